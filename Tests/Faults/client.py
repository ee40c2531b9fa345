# SPDX-License-Identifier: Apache-2.0
"""A client that asks for signatures, tries again as clients should, and writes down each answer before it counts it.

Usage: client.py PORT --api-key FILE --answers FILE --first N [options]; ends after --requests, or at SIGTERM.

Customer N // ATTEMPTS asks for the Nth time, with an idempotency key of its own and on whichever connection is free.
A request without an answer, or with 5xx, is sent again with the same key until it has one. Each tenth grant is asked
for once more with its key, and must come out the same. A line of --answers is one answer:
{"n", "customer", "token", "key", "port", "status", "problem", "sent", "took", "answer" (of a 200)}; "sent" in seconds
since 1970, "took" in seconds.
Prints how many answers there were of each kind.
"""
import argparse
import asyncio
import collections
import itertools
import json
import os
import signal
import time
import uuid
from dataclasses import dataclass

PATH = "/v1/app-store/promotional-offers/signatures"
BUNDLE, PRODUCT, OFFER = "com.example.app", "com.example.pro.monthly", "winback_3m"


class NoAnswer(Exception):
    """The connection ended before the answer was whole."""


@dataclass
class Asked:
    """One request: the same bytes however often it is sent."""
    number: int
    customer: str
    token: str
    key: str
    wire: bytes


class Connection:
    """One connection that speaks as much HTTP/1.1 as the service answers."""

    def __init__(self, port: int, patience: float, source: str | None) -> None:
        self._port, self._patience, self._source = port, patience, source
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    def close(self) -> None:
        if self._streams:
            self._streams[1].transport.abort()
        self._streams = None

    async def ask(self, wire: bytes) -> tuple[int, bytes]:
        try:
            return await asyncio.wait_for(self._ask(wire), self._patience)
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
            self.close()
            raise NoAnswer(type(error).__name__) from error

    async def _ask(self, wire: bytes) -> tuple[int, bytes]:
        if self._streams is None:
            local = (self._source, 0) if self._source else None
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, local_addr=local)
        reader, writer = self._streams
        writer.write(wire)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        body = await reader.readexactly(int(fields.get("content-length", "0")))
        if fields.get("connection", "").lower() == "close":
            self.close()
        return int(head[0].split(" ")[1]), body


class Client:
    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        with open(options.api_key, encoding="ascii") as file:
            self._authorization = file.read().strip()
        self._answers = os.open(options.answers, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._numbers = itertools.count(options.first)
        self._last = options.first + options.requests
        self._due = time.monotonic()
        self.stopping = False
        self.counts: collections.Counter[str] = collections.Counter()

    def _request(self, number: int) -> Asked:
        customer = number // self._options.attempts
        token = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self._options.run}-{customer}"))
        name, key = f"{self._options.run}-{customer}", f"{self._options.run}-key-{number}"
        body = json.dumps({
            "bundleId": BUNDLE, "productId": PRODUCT, "offerId": OFFER, "appAccountToken": token, "customerId": name,
            "formats": ["v1", "jws"] if number % 4 == 0 else ["v1"],
            "facts": {"status": "expired", "expiresAt": "2026-01-01T00:00:00Z"}})
        repeatable = "" if self._options.without_keys else f"Idempotency-Key: {key}\r\n"
        head = (f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self._authorization}\r\n"
                f"{repeatable}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
        return Asked(number, name, token, key, (head + body).encode())

    def _keep(self, asked: Asked, status: int, body: bytes, sent: float) -> None:
        """On file first: what was counted but is not on file could not be held against the service."""
        # A proxy's own answers are pages for people.
        answer = json.loads(body) if body.startswith(b"{") else {}
        line = {"n": asked.number, "customer": asked.customer, "token": asked.token, "key": asked.key,
                "port": self._options.port, "status": status, "problem": answer.get("type"), "sent": sent,
                "took": time.time() - sent}
        if status == 200:
            line["answer"] = answer
        elif status == 403:
            line["codes"] = [finding["code"] for finding in answer.get("decision", {}).get("findings", [])]
        os.write(self._answers, (json.dumps(line) + "\n").encode())
        self.counts[str(status)] += 1
        if status != 200:
            self.counts[str(answer.get("type"))] += 1

    async def _settle(self, connection: Connection, asked: Asked) -> None:
        """Sends a request until it has a final answer."""
        repeats = 1 if asked.number % 10 == 0 and not self._options.without_keys else 0
        while not self.stopping:
            sent = time.time()
            try:
                status, body = await connection.ask(asked.wire)
                self._keep(asked, status, body, sent)
            except NoAnswer as error:
                self.counts["no answer" if "Refused" not in str(error) else "no connection"] += 1
                await asyncio.sleep(0.02)
                continue
            if status >= 500:
                await asyncio.sleep(0.02)
            elif status == 200 and repeats > 0:
                repeats -= 1
            else:
                return

    async def _work(self, index: int) -> None:
        source = f"127.0.1.{1 + index % 250}" if self._options.many_addresses else None
        connection = Connection(self._options.port, self._options.patience, source)
        while not self.stopping:
            number = next(self._numbers)
            if number >= self._last:
                break
            if self._options.rate:
                # Does not catch up on requests that were due while the service did not answer.
                self._due = max(self._due + 1 / self._options.rate, time.monotonic() - 0.02)
                await asyncio.sleep(self._due - time.monotonic())
            await self._settle(connection, self._request(number))
        connection.close()

    def stop(self) -> None:
        self.stopping = True

    async def run(self) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.stop)
        await asyncio.gather(*(self._work(index) for index in range(self._options.connections)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--api-key", required=True)
    parser.add_argument("--answers", required=True)
    parser.add_argument("--run", default="run")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--attempts", type=int, default=5)
    parser.add_argument("--requests", type=int, default=1 << 40)
    parser.add_argument("--rate", type=float, default=0, help="requests a second; 0 for as many as there can be")
    parser.add_argument("--patience", type=float, default=20)
    parser.add_argument("--many-addresses", action="store_true")
    parser.add_argument("--without-keys", action="store_true", help="send no Idempotency-Key, and ask for each grant once")
    client = Client(parser.parse_args())
    asyncio.run(client.run())
    print(json.dumps(client.counts))


if __name__ == "__main__":
    main()
