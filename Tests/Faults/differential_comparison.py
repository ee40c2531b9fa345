# SPDX-License-Identifier: Apache-2.0
"""How `differential` compares two answers: everything must be equal, except what the lists below name."""
import base64
import datetime
import json
import time
from dataclasses import dataclass, field
from typing import Any

from differential_sides import Answer, Ask, Sides

# Values that only one service can have: random numbers, values that it makes with its secrets, and offsets in its log.
RANDOM = {"grantId", "nonce", "signature", "instance", "obfuscatedAccountId", "obfuscatedProfileId", "index",
          "grantIndex", "subscription", "purchase", "grantedTo"}
# When the service read Google Play's catalog, which it does after each start.
RANDOM |= {"catalogReadAt"}
# The ledger writes it once a minute, and again after each start.
RANDOM |= {"lastToldAt"}
# Times. The two sides differ by at most the time between their answers to one request.
TIMES = {"timestamp", "iat", "expiresAt", "nextEligibleAt", "transferredAt", "setAt", "storedAt", "grantedAt",
         "redeemedAt", "pendingSince", "refundedAt", "settledAt", "from", "until", "settledUntil"}
# What a repeated answer of one service may change. Each retry is signed again (docs/decisions/0075), and the IDs for
# Google Play are made with the newest secret.
NEW_EACH_TIME = {"signature", "instance", "catalogReadAt", "obfuscatedAccountId", "obfuscatedProfileId"}


@dataclass
class Comparison:
    """Collects the differences between two answers."""
    ignored: set[str]
    # How far times may be apart.
    seconds: float
    found: list[str] = field(default_factory=list)

    def compare(self, one: Any, other: Any, path: str = "", name: str = "") -> None:
        if isinstance(one, dict) and isinstance(other, dict):
            self._compare_members(one, other, path)
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            for place, items in enumerate(zip(one, other)):
                self.compare(*items, f"{path}/{place}")
        elif name == "jws":
            self.compare(claims(one), claims(other), path)
        elif name in TIMES and one is not None and other is not None:
            # Only `iat` is in whole seconds.
            if abs(seconds_of(one) - seconds_of(other)) > self.seconds + (name == "iat" and self.seconds > 0):
                self.found.append(f"{path}: {one} and {other}, at most {self.seconds:.1f} s apart")
        elif name not in self.ignored and one != other:
            self.found.append(f"{path}: {one!r} and {other!r}")

    def _compare_members(self, one: dict[str, Any], other: dict[str, Any], path: str) -> None:
        """A member must be in both, even if its value is ignored."""
        for name in sorted(one.keys() | other.keys()):
            if name in one and name in other:
                self.compare(one[name], other[name], f"{path}/{name}", name)
            else:
                self.found.append(f"{path}/{name}: only in the {'first' if name in one else 'second'}")


def claims(jws: str) -> list[Any]:
    """Header and claims of a JWS; its signature has a random number."""
    return [json.loads(base64.urlsafe_b64decode(part + "==")) for part in jws.split(".")[:2]]


def seconds_of(value: str | int) -> float:
    """Seconds since 1970 of a time in RFC 3339, in seconds, or in milliseconds."""
    if isinstance(value, int):
        return value / 1000 if value > 100_000_000_000 else value
    return datetime.datetime.fromisoformat(value).timestamp()


class Twins:
    """Asks both sides the same, one after the other, and compares the answers."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        # The longest time that one request took on both sides. Grants of the two sides are at most that far apart.
        self._seconds = 0.1

    def ask(self, ask: Ask, kill_after: float | None = None) -> tuple[tuple[Answer, Answer], bool]:
        """Both answers, and whether a kill made it necessary to send the request twice."""
        started, is_second_try = time.monotonic(), False
        first = self._sides.untouched.ask(ask, 0)
        if kill_after is None:
            second = self._sides.disturbed.ask(ask, 1)
        else:
            second, is_second_try = self._sides.disturbed.ask_amid_kill(ask, 1, kill_after)
        self._seconds = max(self._seconds, time.monotonic() - started)
        return (first, second), is_second_try

    def differences(self, answers: tuple[Answer, Answer]) -> list[str]:
        # A time service may correct the clock by a little.
        comparison = Comparison(RANDOM, self._seconds + 0.05)
        comparison.compare(vars(answers[0]), vars(answers[1]))
        return comparison.found
