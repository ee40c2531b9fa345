# SPDX-License-Identifier: Apache-2.0
"""A device that means harm, with the API key that is in every copy of the app, from as many addresses as it likes.

Usage: attacker.py PORT KIND --api-key FILE [--connections N] [--seconds N]; ends by itself.

KIND is what it does on each connection, over and over: `refusals` (batches of requests that are refused, each under new
names), `certificates` (batches of data signed under chains of its own), `stores` (batches that name transactions which the store
has to be asked about, and does not know), `notifications` (forged ones, 50 a second),
`connections` (opens them, asks once without a key, and keeps them). Prints how many answers there were of each status.
"""
import argparse
import asyncio
import base64
import collections
import datetime
import itertools
import json
import random
import signal
import uuid

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID, ObjectIdentifier

BATCH = "/v1/app-store/promotional-offers/signatures/batch"
NOTIFICATIONS = "/v1/notifications/app-store"
# The marks by which the App Store's intermediate and leaf certificates are known.
INTERMEDIATE, LEAF = ObjectIdentifier("1.2.840.113635.100.6.2.1"), ObjectIdentifier("1.2.840.113635.100.6.11.1")


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Forger:
    """Signs as the App Store does, under an untrusted authority, with a new leaf each time."""

    def __init__(self) -> None:
        self._root_key, self._key, self._leaf_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
        self._root = self._certify("root", "root", self._root_key, self._root_key, None)
        self._intermediate = self._certify("intermediate", "root", self._key, self._root_key, INTERMEDIATE)

    @staticmethod
    def _certify(name: str, issuer: str, key: ec.EllipticCurvePrivateKey, issuer_key: ec.EllipticCurvePrivateKey,
                 mark: ObjectIdentifier | None) -> x509.Certificate:
        now = datetime.datetime.utcnow()
        names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)]) for text in (name, issuer)]
        builder = (x509.CertificateBuilder().subject_name(names[0]).issuer_name(names[1])
                   .public_key(key.public_key()).serial_number(x509.random_serial_number())
                   .not_valid_before(now - datetime.timedelta(days=1))
                   .not_valid_after(now + datetime.timedelta(days=30))
                   .add_extension(x509.BasicConstraints(ca=mark != LEAF, path_length=None), critical=True))
        if mark:
            builder = builder.add_extension(x509.UnrecognizedExtension(mark, b"\x05\x00"), critical=False)
        return builder.sign(issuer_key, hashes.SHA256())

    def sign(self, payload: dict[str, object]) -> str:
        leaf = self._certify("leaf", "intermediate", self._leaf_key, self._key, LEAF)
        chain = [base64.b64encode(certificate.public_bytes(Encoding.DER)).decode()
                 for certificate in (leaf, self._intermediate, self._root)]
        text = ".".join(encoded(json.dumps(part).encode()) for part in ({"alg": "ES256", "x5c": chain}, payload))
        r, s = decode_dss_signature(self._leaf_key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{text}.{encoded(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


class Attacker:
    def __init__(self, options: argparse.Namespace) -> None:
        self._options, self._numbers = options, itertools.count()
        with open(options.api_key, encoding="ascii") as file:
            self._authorization = f"Authorization: Bearer {file.read().strip()}\r\n"
        self.counts: collections.Counter[str] = collections.Counter()
        self._is_ending = False
        # Made before, so that the attack is not held up by the making.
        self._bodies = {"certificates": self._forged_batches, "notifications": self._forged_notifications}.get(
            options.kind, list)()

    def stop(self) -> None:
        self._is_ending = True

    @staticmethod
    def _request(name: str, **members: object) -> dict[str, object]:
        return {"bundleId": "com.example.app", "productId": "com.example.pro.monthly", "offerId": "winback_3m",
                "anonymousId": name, **members}

    def _claims(self) -> dict[str, object]:
        """Transactions that there are not, where the store is to be kept busy."""
        if self._options.kind != "stores":
            return {}
        return {"transactionId": str(random.randrange(10**15, 10**16))}

    def _forged_batches(self) -> list[bytes]:
        forger = Forger()
        return [json.dumps({"requests": [
            self._request(str(uuid.uuid4()), signedTransactions=[forger.sign({"transactionId": str(number)})])
            for number in range(32)]}).encode() for _ in range(40)]

    @staticmethod
    def _forged_notifications() -> list[bytes]:
        forger = Forger()
        return [json.dumps({"signedPayload": forger.sign({"notificationUUID": str(uuid.uuid4())})}).encode()
                for _ in range(1000)]

    def _wire(self, number: int) -> bytes:
        kind = self._options.kind
        if kind in ("connections", "near"):
            return b"GET /v1/callers/self HTTP/1.1\r\nHost: localhost\r\n\r\n"
        if self._bodies:
            body = self._bodies[number % len(self._bodies)]
        else:
            body = json.dumps({"requests": [self._request(str(uuid.uuid4()), **self._claims()) for _ in range(32)]}).encode()
        path, key = (NOTIFICATIONS, "") if kind == "notifications" else (BATCH, self._authorization)
        return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{key}Content-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + body

    async def _work(self, index: int) -> None:
        # Sixteen addresses, each of a network of its own, or all of the network of those who are attacked.
        number = 10 + index % 16
        source = f"127.0.0.{number}" if self._options.kind == "near" else f"127.{number}.0.1"
        while not self._is_ending:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._options.port, local_addr=(source, 0))
                try:
                    await self._ask(reader, writer)
                finally:
                    writer.transport.abort()
            except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
                self.counts["no answer"] += 1
                await asyncio.sleep(0.05)

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pause = {"connections": 60.0, "near": 60.0, "notifications": self._options.connections / 50}.get(self._options.kind, 0.0)
        while not self._is_ending:
            writer.write(self._wire(next(self._numbers)))
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            self.counts[head.split(" ")[1]] += 1
            length = head.partition("content-length: ")[2].partition("\r\n")[0]
            await reader.readexactly(int(length or "0"))
            if "connection: close" in head:
                return
            await asyncio.sleep(pause)

    async def run(self) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.stop)
        tasks = [asyncio.create_task(self._work(index)) for index in range(self._options.connections)]
        for _ in range(self._options.seconds * 10):
            if self._is_ending:
                break
            await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("kind", choices=["refusals", "certificates", "stores", "notifications", "connections", "near"])
    parser.add_argument("--api-key", required=True)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=int, default=60)
    attacker = Attacker(parser.parse_args())
    asyncio.run(attacker.run())
    print(json.dumps(attacker.counts))


if __name__ == "__main__":
    main()
