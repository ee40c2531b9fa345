# SPDX-License-Identifier: Apache-2.0
"""The time of day jumps under a running service, by libfaketime; the clock that nobody can set goes on."""
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
    """A service whose time of day is the system's, so many seconds off; the offset can be set while it runs."""

    def __init__(self, place: Place) -> None:
        self._place, self._path = place, place.path("faketime")
        self._processes: list[int] = []
        self.set(0)

    def set(self, seconds: float) -> None:
        # The file is read at each look at the clock, so it must never be half a number.
        with open(self._path + ".new", "w", encoding="ascii") as file:
            file.write(f"{seconds:+.3f}\n")
        os.rename(self._path + ".new", self._path)

    def start(self, clock: str) -> Service:
        settings = {"LD_PRELOAD": library() or "", "FAKETIME_TIMESTAMP_FILE": self._path, "FAKETIME_NO_CACHE": "1",
                    "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
        # Machines on which tests run need not have a time service; this one is told that it has.
        words = ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "--seccomp-bpf",
                 "-e", "trace=adjtimex,clock_adjtime", "-e", "inject=adjtimex,clock_adjtime:retval=0"]
        for name, value in settings.items():
            words += ["-E", f"{name}={value}"]
        # libfaketime changes the environment of the first program that it is loaded into, and Swift finds its arguments
        # beside the environment; so the first one is a shell.
        service = self._place.start(clock=clock, wrapper=[*words, "sh", "-c", 'exec "$@"', "sh"])
        self._processes.append(service.pid)
        return service

    def close(self) -> None:
        """Removes what libfaketime leaves behind for each program that it was loaded into."""
        for path in glob.glob("/dev/shm/*faketime*"):
            if path.rpartition("_")[2] in map(str, self._processes):
                os.remove(path)


def is_sealed(place: Place, service: Service) -> bool:
    return b"sealed-clock-stepped" in service.get("/health/ready")[1]


def sealing_steps(setup: Setup) -> Row:
    """Under --clock-check seal: each jump stops all signatures until an administrator has looked."""
    started, row = time.monotonic(), Row("clock set by ±1 h, ±1 day, ±400 days; sealed, put right, unsealed")
    most = 0
    with setup.place() as place:
        clock = FakedClock(place)
        service = clock.start("seal")
        place.keep_checkpoints()
        load = place.load(connections=4, rate=200)
        for offset in (HOUR, -HOUR, DAY, -DAY, 400 * DAY, -400 * DAY) * setup.choose(1, 10):
            place.wait_for_signatures()
            clock.set(offset)
            before = place.delivered()
            problems: list[str] = []
            try:
                eventually("the service is sealed", lambda: is_sealed(place, service), 10)
            except Failure as failure:
                problems.append(f"{offset:+d} s: {failure}")
            most = max(most, place.delivered() - before)
            clock.set(0)
            # The way back is a jump too.
            time.sleep(1.5)
            eventually("it may be unsealed", lambda: unseals(place, service), 20, 0.3)
            row.attempt(place, *problems, *recovers(place))
        load.stop()
        clock.close()
        place.checker.cap = None
        row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
        row.conclude(place)
    row.notes.append(f"at most {most} signatures between a jump and the seal")
    return timed(row, started)


def unseals(place: Place, service: Service) -> bool:
    try:
        place.tool("unseal", "--reason", "the clock is right again")
    except Failure:
        return False
    time.sleep(0.3)
    return not is_sealed(place, service)


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
        clock.close()
        row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
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
    yield sealing_steps(setup)
    yield warned_steps(setup)
    yield year_2038(setup)
