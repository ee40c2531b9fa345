# SPDX-License-Identifier: Apache-2.0
"""The time of day jumps under a running service, by libfaketime; the monotonic clock goes on."""
import datetime
import glob
import os
import time
from collections.abc import Iterator

from place import Failure, Place, Service, eventually
from trial import Row, Setup, recovers, timed

HOUR, DAY = 3600, 86400


def library() -> str | None:
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    return found[0] if found else None


class FakedClock:
    """A service with an offset in seconds from the system's time of day; a test can set it while the service runs."""

    def __init__(self, place: Place) -> None:
        self._place, self._path = place, place.path("faketime")
        self.set(0)

    def set(self, seconds: float) -> None:
        # The file is read at each look at the clock, so it must never be half a number.
        with open(self._path + ".new", "w", encoding="ascii") as file:
            file.write(f"{seconds:+.3f}\n")
        os.rename(self._path + ".new", self._path)

    @property
    def _wrapper(self) -> list[str]:
        """The words that a program is started by to see this clock.

        libfaketime changes the environment of the first program that it is loaded into, and Swift finds its arguments
        beside the environment; so the first one is a shell.
        """
        return ["env", f"LD_PRELOAD={library()}", f"FAKETIME_TIMESTAMP_FILE={self._path}", "FAKETIME_NO_CACHE=1",
                "FAKETIME_DONT_FAKE_MONOTONIC=1", "sh", "-c", 'exec "$@"', "sh"]

    def start(self, clock: str) -> Service:
        # Machines that run tests may have no time service; this service sees one that is in step.
        tracer = ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "--seccomp-bpf",
                  "-e", "trace=adjtimex,clock_adjtime", "-e", "inject=adjtimex,clock_adjtime:retval=0"]
        return self._place.start(clock=clock, wrapper=[*tracer, *self._wrapper])

    def unseals(self, service: Service, check: str = "seal") -> bool:
        """Whether an administrator, who sees the same clock, can have signatures made again."""
        try:
            self._place.tool("unseal", "--reason", "it is right", "--clock-check", check, wrapper=self._wrapper)
        except Failure:
            return False
        time.sleep(0.3)
        return not is_sealed(self._place, service)

    def close(self) -> None:
        """Removes what libfaketime leaves behind for each program that it was loaded into and that has ended."""
        for path in glob.glob("/dev/shm/*faketime*"):
            process = path.rpartition("_")[2]
            if process.isdigit() and not os.path.exists(f"/proc/{process}"):
                os.remove(path)


def is_sealed(place: Place, service: Service) -> bool:
    return b"sealed-clock-stepped" in service.get("/health/ready")[1]


def sealed_after(place: Place, service: Service, clock: FakedClock, offset: float) -> tuple[list[str], int]:
    """Sets the clock; what is wrong if that does not seal, and how many signatures were still delivered."""
    clock.set(offset)
    before = place.delivered()
    try:
        eventually("the service is sealed", lambda: is_sealed(place, service), 10)
    except Failure as failure:
        return [f"{offset:+.0f} s: {failure}"], 0
    return [], place.delivered() - before


def set_back(setup: Setup) -> Row:
    """Sealed until the clock is right again and an administrator has said so."""
    started, row, most = time.monotonic(), Row("clock set back by 1 min, 1 h, 1 day, 400 days"), 0
    with setup.place() as place:
        clock = FakedClock(place)
        service = clock.start("seal")
        place.keep_checkpoints()
        load = place.load(connections=4, rate=200)
        for offset in (-60, -HOUR, -DAY, -400 * DAY) * setup.choose(1, 10):
            place.wait_for_signatures()
            problems, count = sealed_after(place, service, clock, offset)
            problems += ["it could be unsealed while the clock is wrong"] if clock.unseals(service) else []
            clock.set(0)
            # The way back is a jump too, and noticed within a second.
            time.sleep(1.5)
            eventually("it may be unsealed", lambda: clock.unseals(service), 20, 0.3)
            row.attempt(place, *problems, *recovers(place))
            most = max(most, count)
        load.stop()
        row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
        clock.close()
        row.conclude(place)
    row.notes.append(f"at most {most} signatures until the seal")
    return timed(row, started)


def set_forward(setup: Setup) -> Row:
    """Sealed until an administrator has said that the new time is right; if it was not, until it has come."""
    started, row, most = time.monotonic(), Row("clock set forward by 1 min, 1 h, 1 day; back; only warned of"), 0
    with setup.place() as place:
        clock = FakedClock(place)
        service = clock.start("seal")
        place.keep_checkpoints()
        load = place.load(connections=4, rate=200)
        offset = 0
        for step in (60, HOUR, DAY) * setup.choose(1, 10):
            place.wait_for_signatures()
            offset += step
            problems, count = sealed_after(place, service, clock, offset)
            eventually("it may be unsealed", lambda: clock.unseals(service), 20, 0.3)
            row.attempt(place, *problems, *recovers(place))
            most = max(most, count)
        problems, count = sealed_after(place, service, clock, 0)
        problems += ["it could be unsealed before its last record"] if clock.unseals(service) else []
        service.kill()
        # What docs/runbook.md says for this case.
        service = clock.start("warn")
        eventually("it may be unsealed", lambda: clock.unseals(service, "warn"), 20, 0.3)
        row.attempt(place, *problems, *recovers(place))
        load.stop()
        row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
        clock.close()
        row.conclude(place)
    row.notes.append(f"at most {most} signatures until the seal")
    return timed(row, started)


def warned_steps(setup: Setup) -> Row:
    """Under --clock-check warn it goes on: no entry is earlier than the one before it, and the caps of a year hold."""
    started, row = time.monotonic(), Row("clock set back and forth by up to a day, only warned of")
    with setup.place() as place:
        clock = FakedClock(place)
        service = clock.start("warn")
        place.keep_checkpoints()
        # Many attempts for each customer, over many jumps: no allowance is filled up again.
        load = place.load(connections=8, rate=100, attempts=200)
        for _ in range(setup.choose(8, 100)):
            clock.set(setup.dice.choice([HOUR, -HOUR, DAY, -DAY, 60, -60, 0]))
            time.sleep(0.5)
            row.attempt(place)
        clock.set(0)
        load.stop()
        clock.close()
        row.problems += [] if service.is_alive and service.stop() == 0 else ["it did not stop in order"]
        row.conclude(place)
    return timed(row, started)


def year_2038(setup: Setup) -> Row:
    """Across the second after which signed 32 bits do not hold the time."""
    started, row = time.monotonic(), Row("03:14:08 UTC on 19 January 2038")
    end = 2 ** 31
    with setup.place() as place:
        clock = FakedClock(place)
        clock.set(end - 3 - time.time())
        service = clock.start("seal")
        place.keep_checkpoints()
        load = place.load(connections=4, rate=200)
        eventually("the time has come", lambda: latest(place) > 1000 * (end + 1), 20)
        row.attempt(place, *recovers(place), *([] if not is_sealed(place, service) else ["it is sealed"]))
        service.kill()
        service = clock.start("seal")
        row.attempt(place, *recovers(place))
        load.stop()
        row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
        clock.close()
        row.conclude(place)
        row.notes.append(f"newest entry of {datetime.datetime.fromtimestamp(latest(place) / 1000, datetime.UTC):%F}")
    return timed(row, started)


def latest(place: Place) -> int:
    place.checker.step()
    return place.checker.last_time


def clock_steps(setup: Setup) -> Iterator[Row]:
    if library() is None:
        yield Row("clock", skipped="not tried: faketime is not installed")
        return
    yield set_back(setup)
    yield set_forward(setup)
    yield warned_steps(setup)
    yield year_2038(setup)
