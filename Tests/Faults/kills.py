# SPDX-License-Identifier: Apache-2.0
"""The service is killed, or stopped in order, again and again amid work."""
import time
from collections.abc import Iterator

from place import Place
from records import SQLiteRecords
from trial import Row, Setup, percentile, recovers, timed


class Compacting:
    """Adds enough grants that the service compacts their offsets from its next start on; not for PostgreSQL."""

    CUSTOMERS = 70_000

    def __init__(self, place: Place) -> None:
        # That is enough entries to have room for them.
        place.wait_for_signatures(600)
        records = place.checker.records
        self._records = records if isinstance(records, SQLiteRecords) else None
        self._grants: list[str] = []
        self.again()

    def again(self) -> None:
        """As many once more, if there is room for them: the first come to an empty table, and later ones to a full one."""
        grant = self._records.spread_grant(self.CUSTOMERS) if self._records else None
        self._grants += [grant] if grant else []

    def conclude(self, row: Row) -> None:
        if self._records is None:
            return
        placed, missed = self._records.offsets()
        kept = [self._records.customers(grant) for grant in self._grants]
        if len(kept) < 3 or min(kept) <= self.CUSTOMERS or placed < 2 * self.CUSTOMERS or missed > 0:
            row.problems.append(f"more than {self.CUSTOMERS} had a grant each time, {kept} have it; "
                                f"{placed} have their offset, {missed} lost it")
        row.notes.append(f"{placed} offsets of grants compacted amid the kills")


def kill_rounds(setup: Setup) -> Iterator[Row]:
    started, row = time.monotonic(), Row("kill -9 under load")
    rounds = setup.choose(200, 1000)
    starts: list[float] = []
    amid_work = amid_start = 0
    with setup.place() as place:
        place.start()
        place.keep_checkpoints()
        load = place.load(connections=16, rate=600)
        service = place.services[-1]
        grants = Compacting(place)
        for number in range(rounds):
            if number % 20 == 19:
                grants.again()
            before = place.delivered()
            time.sleep(setup.dice.uniform(0.02, 0.3))
            service.kill()
            amid_work += place.delivered() > before
            service = place.start(waits=False)
            if setup.dice.random() < 0.1:
                # Some are killed before they have come up.
                time.sleep(setup.dice.uniform(0, 0.05))
                service.kill()
                amid_start += 1
                service = place.start(waits=False)
            starts.append(service.wait_until_listening())
            # Only now, beside the service: Python's SQLite would otherwise do the recovery in its place.
            row.attempt(place)
        row.problems += recovers(place)
        counts = load.stop()
        row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
        row.conclude(place)
        if amid_work < rounds / 2:
            row.problems.append(f"only {amid_work} of {rounds} kills came amid work")
        grants.conclude(row)
    row.notes.append(f"{amid_work} killed amid answers, {amid_start} amid a start, {counts.get('no answer', 0)} "
                     f"requests without an answer and sent again")
    row.notes.append(f"start to listening: median {1000 * percentile(starts, 0.5):.0f} ms, "
                     f"p99 {1000 * percentile(starts, 0.99):.0f} ms, most {1000 * max(starts):.0f} ms")
    yield timed(row, started)


def orderly_ends(setup: Setup) -> Iterator[Row]:
    """Threads end while the process does, so one end among a hundred may be another than the rest."""
    started, row = time.monotonic(), Row("SIGTERM under load")
    rounds, amid_work = setup.choose(60, 600), 0
    with setup.place() as place:
        service = place.start()
        load = place.load(connections=16, rate=600)
        for _ in range(rounds):
            before = place.delivered()
            time.sleep(setup.dice.uniform(0.02, 0.3))
            code = service.stop()
            amid_work += place.delivered() > before
            service = place.start()
            row.attempt(place, *([] if code == 0 else [f"it ended with {code}"]))
        row.problems += recovers(place)
        load.stop()
        row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
        row.conclude(place)
        if amid_work < rounds / 2:
            row.problems.append(f"only {amid_work} of {rounds} ends came amid work")
    row.notes.append(f"{amid_work} amid answers")
    yield timed(row, started)
