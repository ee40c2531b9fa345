# SPDX-License-Identifier: Apache-2.0
"""Holds what clients were given against the log, and the log against its checkpoints; shares no code with the service.

Usage: checker.py DATABASE --answers FILE --place FOLDER [--cap N] [--checkpoints FOLDER]

FOLDER has customer-ids.key, audit-log.vkey and public keys as KEYID.pem; secrets after the first are in
customer-ids-EPOCH.key. Prints a summary in JSON; exit code 1 if anything is wrong. It finds, among others:

- a signature that was delivered and is not in the log with exactly its digest, grant, nonce, format and customer;
- a signature that does not verify over the payload, rebuilt from the answer;
- a cap exceeded, or "cap reached" said to a customer who had not reached it;
- two grants for one idempotency key, or one nonce for two grants;
- an entry that is missing, not canonical, or earlier than the one before it;
- a checkpoint, whenever it was seen, that the log does not continue;
- a ledger that counts other grants than the log has.
"""
import argparse
import base64
import collections
import glob
import hashlib
import hmac
import json
import os
import sys
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from merkle import LogKey, Tree
from records import Records, open_records

BUNDLE, PRODUCT, OFFER = "com.example.app", "com.example.pro.monthly", "winback_3m"
SEPARATOR = "\u2063"
Object = dict[str, Any]


def canonical(value: Any) -> str:
    """RFC 8785 for what entries are made of."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def unpadded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Signatures:
    """Rebuilds what was signed, and verifies it with the public keys of a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._keys: dict[str, ec.EllipticCurvePublicKey] = {}

    def _key(self, identifier: str) -> ec.EllipticCurvePublicKey:
        if identifier not in self._keys:
            with open(os.path.join(self._folder, f"{identifier}.pem"), "rb") as file:
                key = load_pem_public_key(file.read())
            assert isinstance(key, ec.EllipticCurvePublicKey)
            self._keys[identifier] = key
        return self._keys[identifier]

    def of(self, answer: Object, product: str = PRODUCT) -> list[tuple[str, str]]:
        """Format and SHA-256 of each thing that an answer has a signature of; ValueError if one is wrong."""
        found = []
        try:
            if "signature" in answer:
                found.append(("v1", self._verify_v1(answer, product)))
            if "jws" in answer:
                found.append(("jws", self._verify_jws(answer, product)))
        except (InvalidSignature, KeyError, OSError) as error:
            raise ValueError(f"does not verify: {error!r}") from error
        if not found:
            raise ValueError("has no signature")
        return found

    def _verify_v1(self, answer: Object, product: str) -> str:
        account = answer.get("appAccountToken") or answer.get("applicationUsername", "")
        fields = [BUNDLE, answer["keyIdentifier"], product, answer["identifier"], account, answer["nonce"],
                  str(answer["timestamp"])]
        payload = SEPARATOR.join(fields).encode()
        self._key(answer["keyIdentifier"]).verify(
            base64.b64decode(answer["signature"]), payload, ec.ECDSA(hashes.SHA256()))
        return hashlib.sha256(payload).hexdigest()

    def _verify_jws(self, answer: Object, product: str) -> str:
        signed, _, signature = answer["jws"].rpartition(".")
        header, claims = (json.loads(unpadded(part)) for part in signed.split("."))
        if (claims["nonce"], claims["bid"], claims["productId"], claims["offerIdentifier"], header["kid"]) != (
                answer["nonce"], BUNDLE, product, answer["identifier"], answer["keyIdentifier"]):
            raise ValueError(f"has a JWS of something else: {header} {claims}")
        raw = unpadded(signature)
        both = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        self._key(header["kid"]).verify(both, signed.encode(), ec.ECDSA(hashes.SHA256()))
        return hashlib.sha256(signed.encode()).hexdigest()


class Checker:
    """Reads answers and log as they grow; what it has read once it does not read again."""

    def __init__(self, database: str, answers: str, place: str, checkpoints: str | None = None,
                 cap: int | None = 3) -> None:
        self.records: Records = open_records(database)
        self._answers_path, self._checkpoints, self.cap = answers, checkpoints, cap
        self._offset, self.last_time = 0, 0
        self.tree, self._signatures = Tree(), Signatures(place)
        with open(os.path.join(place, "audit-log.vkey"), encoding="ascii") as file:
            self._log_key = LogKey(file.read())
        self._place = place
        self._secrets: dict[str, bytes] = {}
        self.problems: list[str] = []
        self.counts: collections.Counter[str] = collections.Counter()
        self.policies: set[str] = set()
        self._seen_checkpoints: set[str] = set()
        self._intents: dict[str, Object] = {}
        self._recorded: set[str] = set()
        self._given_to_apps: set[str] = set()
        self._grant_of_nonce: dict[str, str] = {}
        self._grant_of_key: dict[str, tuple[str, str]] = {}
        self._users_of_grant: dict[str, set[str]] = collections.defaultdict(set)
        self._grants_of_user: dict[str, set[str]] = collections.defaultdict(set)
        self._users_of_customer: dict[str, list[str]] = {}
        self._keys_of_customer: dict[str, set[str]] = collections.defaultdict(set)

    def step(self) -> list[str]:
        """Reads what is new; the problems found in it. Answers and checkpoints first: the log must have them."""
        known = len(self.problems)
        self._read_secrets()
        answers, checkpoints = self._new_answers(), self._new_checkpoints()
        self._read_log()
        for answer in answers:
            self._judge(answer)
        for path in checkpoints:
            self._judge_checkpoint(path)
        return self.problems[known:]

    def _complain(self, what: str) -> None:
        self.problems.append(what)

    # The log

    def _read_log(self) -> None:
        for index, text in self.records.entries(len(self.tree)):
            if index != len(self.tree):
                return self._complain(f"entry {len(self.tree)} is missing; the next one is {index}")
            self.tree.append(text)
            entry: Object = json.loads(text)
            if canonical(entry).encode() != text:
                self._complain(f"entry {index} is not canonical")
            if entry["t"] < self.last_time:
                self._complain(f"entry {index} is {self.last_time - entry['t']} ms earlier than the one before it")
            self.last_time = max(self.last_time, entry["t"])
            self.counts[f"log: {entry['ev']}"] += 1
            # A denied introductory offer is signed, and is no grant.
            if entry["ev"] in ("sign.intent", "authorize.intent") and entry.get("allow", True):
                self._take_grant(index, entry)
            if entry["ev"] == "sign.intent":
                self._take_intent(index, entry)

    def _take_intent(self, index: int, entry: Object) -> None:
        self._intents[entry["digest"]] = entry
        if self._grant_of_nonce.setdefault(entry["nonce"], entry["grant"]) != entry["grant"]:
            self._complain(f"entry {index}: nonce {entry['nonce']} belongs to two grants")

    def _take_grant(self, index: int, entry: Object) -> None:
        self._recorded.add(entry["grant"])
        if entry["caller"] == "app":
            self._given_to_apps.add(entry["grant"])
        self.policies.add(entry["rules"])
        self._users_of_grant[entry["grant"]].update(entry["users"])
        for user in entry["users"]:
            grants = self._grants_of_user[user]
            grants.add(entry["grant"])
            if self.cap is not None and len(grants) > self.cap:
                self.counts["over cap"] += 1
                self._complain(f"entry {index}: {user} has {len(grants)} grants")

    # Answers

    def _new_answers(self) -> list[Object]:
        if not os.path.exists(self._answers_path):
            return []
        with open(self._answers_path, "rb") as file:
            file.seek(self._offset)
            text = file.read()
        # A client that was ended amid a line has not counted it.
        text = text[:text.rfind(b"\n") + 1]
        self._offset += len(text)
        return [json.loads(line) for line in text.splitlines()]

    def _read_secrets(self) -> None:
        """Reads the secrets of customer IDs, of which there may be more than at the last step."""
        names = glob.glob("customer-ids*.key", root_dir=self._place)
        if len(names) == len(self._secrets):
            return
        for name in names:
            with open(os.path.join(self._place, name), encoding="ascii") as file:
                epoch = name.removeprefix("customer-ids").removesuffix(".key").removeprefix("-") or "1"
                self._secrets[epoch] = bytes.fromhex(file.read().strip())
        self._users_of_customer.clear()

    def _users(self, customer: str) -> list[str]:
        """The pseudonyms of a customer under each secret, as docs/audit-log.md defines them."""
        if customer not in self._users_of_customer:
            name = BUNDLE.encode() + b"\0c:" + customer.lower().encode()
            digests = {epoch: hmac.new(secret, name, "sha256").digest() for epoch, secret in self._secrets.items()}
            self._users_of_customer[customer] = [
                f"hmac:{epoch}:" + base64.urlsafe_b64encode(digest).decode().rstrip("=")
                for epoch, digest in digests.items()]
        return self._users_of_customer[customer]

    def _named(self, entry: Object) -> set[str]:
        """The customers of an entry. A retry under a later secret names none: it would link two pseudonyms."""
        return set(entry["users"]) or self._users_of_grant[entry["grant"]]

    def _grants(self, customer: str) -> set[str]:
        return set[str]().union(*(self._grants_of_user.get(user, set()) for user in self._users(customer)))

    def _judge(self, line: Object) -> None:
        self.counts[f"answers: {line['status']}"] += 1
        self._keys_of_customer[line["customer"].lower()].add(line["key"])
        if line["status"] == 403 and "grants-cap-reached" in line["codes"] and self.cap is not None:
            if len(self._grants(line["customer"])) < self.cap:
                self._complain(f"{line['key']} was refused for a cap that {line['customer']} has not reached")
        if line["status"] == 200:
            self._judge_grant(line, line["answer"])

    def _judge_grant(self, line: Object, answer: Object) -> None:
        key, pair = line["key"], (answer["grantId"], answer["nonce"])
        if self._grant_of_key.setdefault(key, pair) != pair:
            self._complain(f"{key} was given {self._grant_of_key[key]} and {pair}")
        if answer["identifier"] != line.get("offer", OFFER) or answer.get("appAccountToken") != line["token"]:
            self._complain(f"{key} was given a different offer or account than it asked for")
        try:
            signed = self._signatures.of(answer, line.get("product", PRODUCT))
        except ValueError as error:
            return self._complain(f"the answer to {key} {error}")
        for form, digest in signed:
            entry = self._intents.get(digest)
            if entry is None:
                self.counts["lost"] += 1
                self._complain(f"{key}: the {form} signature of {answer['grantId']} is not in the log")
            elif (entry["grant"], entry["nonce"], entry["fmt"], entry["kid"]) != (*pair, form, answer["keyIdentifier"]):
                self._complain(f"{key}: the log has {form} of {answer['grantId']} as {entry}")
            elif not set(self._users(line["customer"])) & self._named(entry):
                self._complain(f"{key}: the log has {answer['grantId']} as granted to others")

    # Checkpoints

    def _new_checkpoints(self) -> list[str]:
        found = sorted(glob.glob(os.path.join(self._checkpoints, "*.note"))) if self._checkpoints else []
        return [path for path in found if path not in self._seen_checkpoints]

    def _judge_checkpoint(self, path: str) -> None:
        self._seen_checkpoints.add(path)
        self.counts["checkpoints"] += 1
        try:
            with open(path, "rb") as file:
                size, root = self._log_key.open(file.read())
            if self.tree.root(size) != root:
                raise ValueError(f"the log is no continuation of the checkpoint of size {size}")
        except ValueError as error:
            self._complain(f"{os.path.basename(path)}: {error}")

    # The end

    def finish(self, compares_ledger: bool = True) -> list[str]:
        """The rest, once nothing is under way any more: ledger and log, keys and grants."""
        self.step()
        damage = self.records.damage()
        if damage:
            self._complain(damage)
        for customer, keys in self._keys_of_customer.items():
            found = len(self._grants(customer))
            if found > len(keys):
                self._complain(f"{customer} asked with {len(keys)} keys and has {found} grants")
        recorded = {grant.replace("-", "") for grant in self._recorded}
        grants, counted = self.records.ledger()
        if compares_ledger and grants != recorded:
            self._complain(f"ledger and log differ in {len(grants ^ recorded)} grants")
        # Days count for budgets, and budgets count no grant to a customer whom an app only claims to be.
        fewest = len(recorded) - len(self._given_to_apps)
        if compares_ledger and not fewest <= counted <= len(recorded):
            self._complain(f"the days count {counted} grants, the log {len(recorded)}")
        return self.problems

    def summary(self) -> Object:
        return {"problems": self.problems, "lost": self.counts["lost"], "delivered": self.counts["answers: 200"],
                "grants": len(self._recorded), "entries": len(self.tree), "root": self.tree.root(
                    len(self.tree)).hex(), "checkpoints": self.counts["checkpoints"], "counts": dict(self.counts)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("--answers", required=True)
    parser.add_argument("--place", required=True)
    parser.add_argument("--checkpoints")
    parser.add_argument("--cap", type=int, default=3)
    options = parser.parse_args()
    checker = Checker(options.database, options.answers, options.place, options.checkpoints, options.cap)
    checker.finish()
    print(json.dumps(checker.summary(), indent=2))
    sys.exit(1 if checker.problems else 0)


if __name__ == "__main__":
    main()
