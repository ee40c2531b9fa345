# SPDX-License-Identifier: Apache-2.0
"""The two services of `differential`, and what they are asked."""
import http.client
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from differential_catalog import furnish
from place import Failure, Place, Service
from stores import FakeAppStore, FakeGooglePlay

# One value for each side: each side has its own fakes, which sign with their own keys, and its own grants.
Both = tuple[str, str]


def both(make: Callable[[int], str]) -> Both:
    return make(0), make(1)


@dataclass(frozen=True)
class Ask:
    """One request to both services. Only signed data and IDs of grants differ between the sides."""
    kind: str
    path: Both
    body: Both = ("", "")
    method: str = "POST"
    # The caller whose API key is sent; empty for what a store sends, which may have a token of its own.
    caller: str = "load"
    bearer: Both = ("", "")
    # The Idempotency-Key.
    key: str = ""
    # The customer's number; -1 for several customers.
    customer: int = -1

    @property
    def is_repeatable(self) -> bool:
        """Whether it may be sent while the service is killed, and again afterwards.

        Without an Idempotency-Key, nobody can know whether the killed service counted the request. With one, a repeated
        account token still answers `isRepeated`, so the two sides would differ.
        """
        return self.key != "" and self.kind != "account token"


@dataclass
class Answer:
    status: int
    content_type: str
    body: Any


class Side:
    """One service with stores of its own.

    The fakes of both sides give the same IDs. They are not shared, because a store that one service has changed would
    answer the other service differently.
    """

    def __init__(self, binary: str) -> None:
        self.place = Place(binary)
        self._stores: list[FakeAppStore | FakeGooglePlay] = []
        try:
            self.app_store, self.play = FakeAppStore(), FakeGooglePlay()
            self._stores += [self.app_store, self.play]
            furnish(self.place, self.app_store, self.play)
            self.place.add_caller("app", "app", "--bundle", "com.example.app")
            self.service = self.start()
        except BaseException:
            self.close()
            raise

    def start(self) -> Service:
        self.service = self.place.start(
            *self.app_store.options(), *self.play.options(), "--app-rate-per-address", "none",
            "--app-rate-per-customer", "none")
        return self.service

    def _send(self, ask: Ask, side: int) -> Answer:
        """Uses a connection of its own, so that no request goes to a connection that a fault has ended."""
        bearer = self.place.text(f"{ask.caller}-key") if ask.caller else ask.bearer[side]
        headers = {"Content-Type": "application/json"} if ask.body[side] else {}
        headers |= {"Authorization": f"Bearer {bearer}"} if bearer else {}
        headers |= {"Idempotency-Key": ask.key} if ask.key else {}
        connection = http.client.HTTPConnection("127.0.0.1", self.place.port, timeout=30)
        try:
            connection.request(ask.method, ask.path[side], ask.body[side].encode() or None, headers)
            response = connection.getresponse()
            text = response.read()
            return Answer(response.status, response.getheader("Content-Type", ""), json.loads(text) if text else None)
        finally:
            connection.close()

    def ask(self, ask: Ask, side: int) -> Answer:
        try:
            return self._send(ask, side)
        except (OSError, http.client.HTTPException) as error:
            code = self.service.process.poll()
            state = "it runs" if code is None else f"it ended with {code}"
            raise Failure(f"no answer to {ask.kind} {ask.path[side]} {ask.body[side]}: {error!r}; {state}; "
                          f"{self.service.log[-600:]}") from error

    def ask_amid_kill(self, ask: Ask, side: int, delay: float) -> tuple[Answer, bool]:
        """Kills the service `delay` seconds after the request. Gives the answer, and whether it took two requests."""
        killer = threading.Timer(delay, self.service.kill)
        killer.start()
        try:
            answer = self._send(ask, side)
        except (OSError, http.client.HTTPException):
            answer = None
        killer.join()
        self.start()
        return (answer, False) if answer else (self.ask(ask, side), True)

    def close(self, keeps: bool = False) -> None:
        self.place.close(keeps)
        for store in self._stores:
            store.stop()


class Sides:
    """First the side that no fault touches, then the side that every fault touches."""

    def __init__(self, binary: str) -> None:
        self._all = [Side(binary)]
        try:
            # Only now: the port of the first one is in use, so the second one takes another.
            self._all.append(Side(binary))
        except BaseException:
            self.close()
            raise

    @property
    def untouched(self) -> Side:
        return self._all[0]

    @property
    def disturbed(self) -> Side:
        return self._all[1]

    @property
    def both(self) -> tuple[Side, Side]:
        return self._all[0], self._all[1]

    def close(self, keeps: bool = False) -> None:
        for side in self._all:
            side.close(keeps)
