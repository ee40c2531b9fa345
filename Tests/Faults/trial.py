# SPDX-License-Identifier: Apache-2.0
"""What trials of faults are given, and what came of them."""
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from place import Failure, Place


@dataclass
class Setup:
    binary: str
    is_long: bool = False
    # The location of the database; None for SQLite in the folder of each trial.
    database: Callable[[], str] | None = None
    dice: random.Random = field(default_factory=random.Random)
    # A version before this one, with the same tables.
    older: str = ""

    def place(self) -> Place:
        return Place(self.binary, self.database() if self.database else None)

    def choose(self, short: Any, long: Any) -> Any:
        return long if self.is_long else short


@dataclass
class Row:
    """A fault, how often it was tried, after how many of those all was well, and how many signatures were lost."""
    fault: str
    tried: int = 0
    survived: int = 0
    lost: int = 0
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0
    skipped: str = ""

    @property
    def is_good(self) -> bool:
        return not self.problems and self.lost == 0 and self.tried == self.survived

    def attempt(self, place: Place, *problems: str) -> None:
        """Counts one try; the problems are what went wrong besides what the checker finds now."""
        found = [*problems, *self._check(place)]
        self.tried += 1
        self.survived += not found
        self.problems += found

    def _check(self, place: Place, finishes: bool = False) -> list[str]:
        before = place.checker.counts["lost"]
        found = place.checker.finish() if finishes else place.checker.step()
        self.lost += place.checker.counts["lost"] - before
        return list(found)

    def conclude(self, place: Place) -> None:
        """Checks everything once more from the beginning, after all requests have ended."""
        place.end_checkpoints()
        place.checker = place.fresh_checker(place.checker.cap)
        self.problems += self._check(place, finishes=True)
        summary = place.checker.summary()
        self.notes.append(f"{summary['delivered']} answers, {summary['grants']} grants, {summary['entries']} entries, "
                          f"{summary['checkpoints']} checkpoints")


Trial = Callable[[Setup], Iterator[Row]]


def recovers(place: Place, count: int = 5, seconds: float = 30) -> list[str]:
    """Whether signatures are made (again); what is wrong if not."""
    try:
        place.wait_for_signatures(count, seconds)
        return []
    except Failure as failure:
        return [f"{failure}: {place.log_of_services()[-400:]}"]


def timed(row: Row, started: float) -> Row:
    row.seconds = time.monotonic() - started
    return row


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0
