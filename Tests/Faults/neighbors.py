# SPDX-License-Identifier: Apache-2.0
"""What a backend and an operator notice while an attacker uses an app's API key, or none."""
import http.client
import json
import os
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence

from place import ENDS_WITH_US, HERE, PYTHON, Failure, Place, Service, eventually
from records import SQLiteRecords
from stores import FakeAppStore
from trial import Row, Setup, percentile, timed

PATH = "/v1/app-store/promotional-offers/signatures"
# What each attack is, what it does, and on how many connections.
ATTACKS = [("refusals in batches, under names without end", "refusals", 64),
           ("chains of certificates of one's own, in batches", "certificates", 64),
           ("the same on 500 connections", "certificates", 500),
           ("forged notifications, 50 a second", "notifications", 16),
           ("5,000 connections from 16 addresses", "connections", 5000),
           ("2,000 connections from 16 addresses of one's own network", "near", 2000)]
# The same with a store that takes this long for each answer, in milliseconds.
STORE_ATTACKS = [("questions to the store about made-up transactions, in batches", "stores", 8),
                 ("the same on 64 connections", "stores", 64)]
STORE_DELAY = 300
# What the log may grow by while it is attacked: a warning a minute for each cause, and no more.
MOST_LOGGED = 1_000_000
# As many as trials before this one have left to be had.
MANY_DESCRIPTORS = ["prlimit", "--nofile=10000:10000"]
# 240 refusals at once and 120 a minute are entries, and one a minute counts the rest; and what a batch has under way.
SINGLE_REFUSALS, REFUSALS_A_SECOND, SPARE = 240, 2, 64


class Backend:
    """Asks for signatures on one connection, one after the other, and keeps how long each took."""

    def __init__(self, place: Place, transactions: Sequence[str] = ()) -> None:
        self._port, self._key, self._run = place.port, place.text("load-key"), uuid.uuid4().hex[:8]
        self._number, self._transactions = 0, transactions

    def _body(self) -> str:
        """A request about another customer each time; the store knows the customer if the service is to ask it."""
        self._number += 1
        members: dict[str, object] = {"facts": {"status": "expired", "expiresAt": "2026-01-01T00:00:00Z"}}
        if self._transactions:
            members = {"transactionId": self._transactions[self._number % len(self._transactions)]}
        return json.dumps({
            "bundleId": "com.example.app", "productId": "com.example.pro.monthly", "offerId": "winback_3m",
            "customerId": f"{self._run}-{self._number}", "appAccountToken": str(uuid.uuid4()), **members})

    def ask(self, seconds: float) -> tuple[list[float], list[int]]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
        took, statuses, end = [], [], time.monotonic() + seconds
        while time.monotonic() < end:
            body = self._body()
            started = time.monotonic()
            connection.request("POST", PATH, body, {"Authorization": f"Bearer {self._key}",
                                                    "Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            took.append(time.monotonic() - started)
            statuses.append(response.status)
            time.sleep(0.01)
        connection.close()
        return took, statuses


def health(service: Service, count: int = 20) -> list[float]:
    """The seconds that questions about its health take, each on a connection of its own."""
    found = []
    for _ in range(count):
        started = time.monotonic()
        if service.get("/health/live")[0] != 200:
            raise Failure("it is not alive")
        found.append(time.monotonic() - started)
        time.sleep(0.05)
    return found


def sealed_and_unsealed(place: Place, service: Service) -> float:
    """The seconds that the call takes which stops all signatures."""
    connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=20)
    headers = {"Authorization": f"Bearer {place.text('operator-key')}", "Content-Type": "application/json"}
    started = time.monotonic()
    statuses = []
    for path in ("/v1/seal", "/v1/unseal"):
        connection.request("POST", path, json.dumps({"reason": "drill"}), headers)
        response = connection.getresponse()
        response.read()
        statuses.append(response.status)
        if path == "/v1/seal":
            took = time.monotonic() - started
    if statuses != [200, 200]:
        raise Failure(f"seal and unseal were answered {statuses}")
    return took


def database(place: Place) -> str:
    return place.path("demo/offer-signer.db")


def disk(place: Place) -> int:
    return sum(os.path.getsize(database(place) + end) for end in ("", "-wal"))


def attack(setup: Setup, title: str, kind: str, connections: int, store: FakeAppStore | None = None) -> Row:
    started, row, seconds = time.monotonic(), Row(title), setup.choose(8, 60)
    with Place(setup.binary) as place:
        place.add_caller("app", "app", "--bundle", "com.example.app")
        place.add_caller("operator", "admin")
        # Enough for the backend, and gone at once if refused requests under made-up names took it.
        place.edit("offers", "atMost: 1000000000,", f"atMost: {setup.choose(2500, 15000)},")
        if store:
            store.admit(place)
            store.call("misbehave", kind="slow", milliseconds=STORE_DELAY)
        service = place.start(*(store.options() if store else []), wrapper=MANY_DESCRIPTORS)
        backend = Backend(place, store.customers(setup.choose(100, 400)) if store else ())
        backend.ask(1)
        quiet, _ = backend.ask(seconds / 2)
        before, logged = disk(place), os.path.getsize(place.path("log"))
        words = [*ENDS_WITH_US, *MANY_DESCRIPTORS, PYTHON, "-B", os.path.join(HERE, "attacker.py"),
                 str(place.port), kind, "--api-key", place.path("app-key"), "--connections", str(connections),
                 "--seconds", "300"]
        attacker = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            asked = service.metric("http_requests_total")
            eventually("the attack has begun", lambda: service.metric("http_requests_total") > asked + 30)
            took, statuses = backend.ask(seconds)
            alive, shut = health(service), sealed_and_unsealed(place, service)
        finally:
            attacker.terminate()
        counts = json.loads(attacker.communicate(timeout=60)[0])
        grown, logged = disk(place) - before, os.path.getsize(place.path("log")) - logged
        refusals = sum(b'"ev":"sign.deny"' in entry for _, entry in SQLiteRecords(database(place)).entries(0))
        most = SINGLE_REFUSALS + SPARE + REFUSALS_A_SECOND * (time.monotonic() - started)
        problems = [] if set(statuses) == {200} else [f"the backend was answered {sorted(set(statuses))}"]
        problems += [] if refusals <= most else [f"{refusals} refusals are entries, at most {most:.0f} expected"]
        problems += [] if logged <= MOST_LOGGED else [f"the log grew by {logged} bytes"]
        problems += [] if service.is_alive else ["it died"]
        row.attempt(place, *problems)
        row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
    figures = [1000 * percentile(values, 0.99) for values in (quiet, took)]
    row.notes.append(f"backend's p99 {figures[0]:.1f} ms before, {figures[1]:.1f} ms under attack; health at most "
                     f"{1000 * max(alive):.0f} ms, seal {1000 * shut:.0f} ms; disk grew by {grown / 1e6:.1f} MB, the log by {logged / 1e3:.0f} kB; "
                     f"the attacker got {', '.join(f'{status}: {count}' for status, count in sorted(counts.items()))}")
    return timed(row, started)


def neighbors(setup: Setup) -> Iterator[Row]:
    for title, kind, connections in ATTACKS:
        yield attack(setup, title, kind, connections)
    for title, kind, connections in STORE_ATTACKS:
        with FakeAppStore() as store:
            yield attack(setup, title, kind, connections, store)
