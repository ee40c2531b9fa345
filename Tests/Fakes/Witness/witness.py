# SPDX-License-Identifier: Apache-2.0
"""What a witness knows and does; nothing of it is taken from the service."""
import base64
import hashlib
import threading
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import merkle

DASH = "\u2014"


class Refusal(Exception):
    """An answer that is no cosignature."""

    def __init__(self, status, body=b"", content_type="text/plain"):
        super().__init__(status)
        self.status, self.body, self.content_type = status, body, content_type


def key_id(name, algorithm, public_key):
    return hashlib.sha256(name.encode() + b"\n" + bytes([algorithm]) + public_key).digest()[:4]


class Witness:
    def __init__(self, name):
        self.name = name
        self.key = Ed25519PrivateKey.generate()
        self.public_key = self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.lock = threading.Lock()
        # By origin: the key that signs the log, and what was co-signed last.
        self.trusted, self.held = {}, {}
        self.requests, self.cosigned = 0, []
        self.mode, self.delay, self.status = "good", 0, 503
        # Whether nothing gets through on the second of its two ways, `…/far`.
        self.isCutOff = False

    def verifier_key(self):
        identity = key_id(self.name, 4, self.public_key).hex()
        return f"{self.name}+{identity}+{base64.b64encode(bytes([4]) + self.public_key).decode()}"

    # Control

    def control_trust(self, verifierKey):
        name, _, key = verifierKey.split("+", 2)
        self.trusted[name] = base64.b64decode(key)[1:]
        return {}

    def control_distrust(self):
        self.trusted = {}
        return {}

    def control_behave(self, mode="good", delay=0, status=503):
        """Modes: good, status, forged, garbage, stranger, lying."""
        self.mode, self.delay, self.status = mode, delay, status
        return {}

    def control_cutOff(self, isCutOff):
        self.isCutOff = isCutOff
        return {}

    def control_hold(self, origin, size, root):
        """As if that had been co-signed."""
        self.held[origin] = (size, base64.b64decode(root))
        return {}

    def control_state(self, origin):
        with self.lock:
            size, _ = self.held.get(origin, (0, b""))
            return {"size": size, "requests": self.requests, "cosigned": list(self.cosigned)}

    # The protocol

    def note(self, _path):
        with self.lock:
            self.requests += 1

    def misbehave_before(self, isFar=False):
        if self.delay:
            time.sleep(self.delay / 1000)
        if isFar and self.isCutOff:
            raise Refusal(503)
        if self.mode == "status":
            raise Refusal(self.status)

    def add_checkpoint(self, body):
        old, proof, text, signatures = self.parse(body)
        lines = text.decode().split("\n")
        origin, size, root = lines[0], int(lines[1]), base64.b64decode(lines[2], validate=True)
        if origin not in self.trusted:
            raise Refusal(404)
        self.demand_signature(origin, text, signatures)
        with self.lock:
            held, held_root = self.held.get(origin, (0, merkle.EMPTY))
            if self.mode == "lying":
                raise Refusal(409, b"123456789\n", "text/x.tlog.size")
            if old > size:
                raise Refusal(400)
            if old != held or old == size and root != held_root:
                raise Refusal(409, f"{held}\n".encode(), "text/x.tlog.size")
            if not merkle.is_consistent(held, size, held_root, root, proof):
                raise Refusal(422)
            self.held[origin] = (size, root)
            self.cosigned.append(size)
        return self.cosign(text)

    @staticmethod
    def parse(body):
        try:
            head, note = body.split(b"\n\n", 1)
            first, *hashes = head.decode().split("\n")
            word, old = first.split(" ")
            proof = [base64.b64decode(line, validate=True) for line in hashes]
            if word != "old" or str(int(old)) != old or len(proof) > 63 or any(len(h) != 32 for h in proof):
                raise ValueError(first)
            text, signatures = note.rsplit(b"\n\n", 1)
            text += b"\n"
            lines = text.decode().split("\n")
            if len(lines) != 4 or str(int(lines[1])) != lines[1] or not signatures.endswith(b"\n"):
                raise ValueError("checkpoint")
            return int(old), proof, text, signatures.decode().splitlines()
        except ValueError as error:
            raise Refusal(400) from error

    def demand_signature(self, origin, text, signatures):
        key = self.trusted[origin]
        for line in signatures:
            dash, name, encoded = line.split(" ")
            signature = base64.b64decode(encoded, validate=True)
            if dash != DASH or name != origin or signature[:4] != key_id(origin, 1, key):
                continue
            try:
                Ed25519PublicKey.from_public_bytes(key).verify(signature[4:], text)
                return
            except InvalidSignature as error:
                raise Refusal(403) from error
        raise Refusal(403)

    def cosign(self, text):
        if self.mode == "garbage":
            return b"certainly\n"
        seconds = int(time.time())
        key = Ed25519PrivateKey.generate() if self.mode == "forged" else self.key
        signature = key.sign(f"cosignature/v1\ntime {seconds}\n".encode() + text)
        identity = key_id(self.name, 4, self.public_key)
        if self.mode == "stranger":
            identity = bytes(4)
        line = base64.b64encode(identity + seconds.to_bytes(8, "big") + signature).decode()
        return f"{DASH} {self.name} {line}\n".encode()
