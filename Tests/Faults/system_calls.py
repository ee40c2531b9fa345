# SPDX-License-Identifier: Apache-2.0
"""System calls of the running service fail one by one, by strace, under load."""
import os
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from place import Failure, Place, Service, eventually
from trial import Row, Setup, recovers

ONCE, SOME, ALL = "when=3", "when=2+5", ""


@dataclass
class Fault:
    """Calls, what becomes of them, and whether the process may die of it."""
    calls: str
    injection: str
    when: str
    may_die: bool = False
    # SQLite may be left with a lock that it could not let go of: then nothing is signed until the service is restarted.
    restarts: bool = False

    @property
    def text(self) -> str:
        often = {ONCE: "the third", SOME: "each fifth", ALL: "all"}[self.when]
        return f"{self.calls}: {self.injection.replace('error=', '').replace('retval=0', 'nothing done')}, {often}"

    @property
    def inject(self) -> str:
        return f"inject={self.calls}:{self.injection}" + (f":{self.when}" if self.when else "")


# What is written, read and synced; what is opened; the network; memory.
DISK = {
    "pwrite64": ["EIO", "ENOSPC", "EINTR", "EROFS", "EDQUOT"], "pread64": ["EIO", "EINTR"],
    "fdatasync": ["EIO", "ENOSPC", "EINTR"], "fsync": ["EIO"], "ftruncate": ["EIO", "ENOSPC"],
    "openat": ["EIO", "ENOSPC", "EMFILE", "EACCES"], "rename,renameat,renameat2": ["EIO", "ENOSPC"],
    "unlink": ["EIO"], "fcntl": ["ENOLCK", "EINTR"], "newfstatat,fstat,statx": ["EIO"],
}
NETWORK = {
    "write": ["EIO", "EINTR", "EAGAIN"], "writev,sendto,sendmsg": ["ECONNRESET", "EINTR", "EAGAIN"],
    "readv,recvfrom,recvmsg": ["ECONNRESET", "EINTR", "EAGAIN"], "read": ["EIO", "EINTR"],
    "accept4": ["EMFILE", "ECONNABORTED", "EINTR", "ENOBUFS"], "epoll_wait,epoll_pwait2,epoll_pwait": ["EINTR"],
    "epoll_ctl": ["ENOMEM"],
}
# Now and then Swift's dispatch library counts its threads that run, and ends the process by a trap (SIGILL) if it can't open
# what the system says of one.
DISPATCH_TRAPS = {"openat": -signal.SIGILL}
# Without these the process may end, as the runtime and libraries have it.
MEMORY = {"mmap": ["ENOMEM"], "brk": ["ENOMEM"], "madvise": ["ENOMEM"], "getrandom": ["EAGAIN", "ENOSYS"]}
KILLS = ["pwrite64", "fdatasync", "ftruncate", "rename,renameat,renameat2", "write", "writev,sendto,sendmsg", "pread64", "openat"]


def table(is_long: bool) -> list[Fault]:
    faults: list[Fault] = []
    for group, may_die in ((DISK, False), (NETWORK, False), (MEMORY, True)):
        for calls, errors in group.items():
            for error in errors:
                restarts = calls == "fcntl"
                faults += [Fault(calls, f"error={error}", when, may_die, restarts) for when in (ONCE, SOME, ALL)]
    faults += [Fault("pwrite64", "retval=0", when) for when in (ONCE, SOME, ALL)]
    kills = [Fault(calls, "signal=SIGKILL", when, True) for calls in KILLS for when in (ONCE,)]
    if is_long:
        return faults + kills * 5
    first = [fault for fault in faults if fault.when == SOME]
    return first + [fault for fault in faults if fault.when == ALL and fault.calls in DISK] + kills


class Injector:
    """strace, attached to a running service."""

    def __init__(self, service: Service, fault: Fault) -> None:
        command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={fault.calls}", "-e", "signal=none",
                   "-e", fault.inject, "-p", str(service.pid)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        eventually("strace is attached or has ended", lambda: self._process.poll() is not None
                   or tracer_of(service.pid) == self._process.pid, 20, 0.005)

    def detach(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def tracer_of(pid: int) -> int:
    """The process that traces all threads of a process; 0 if there is none, or if it does not trace all yet."""
    tracers = set()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/status", encoding="ascii") as file:
                tracers.add(next(int(line.split()[1]) for line in file if line.startswith("TracerPid")))
    except OSError:
        return 0
    return tracers.pop() if len(tracers) == 1 else 0


def wait_while_alive(service: Service, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while service.is_alive and time.monotonic() < deadline:
        time.sleep(0.01)


def inject(service: Service, fault: Fault) -> None:
    injector = Injector(service, fault)
    wait_while_alive(service, 3 if "SIGKILL" in fault.injection else 0.5)
    injector.detach()
    # A signal that was on its way arrives now.
    wait_while_alive(service, 0.05)


def try_fault(place: Place, service: Service, fault: Fault, row: Row, seen: Counter[str]) -> Service:
    offset = place.answers_end()
    inject(service, fault)
    problems: list[str] = []
    statuses = {answer["status"] for answer in place.answers_since(offset)}
    if not service.is_alive:
        seen["died"] += 1
        is_trap = service.process.returncode == DISPATCH_TRAPS.get(fault.calls)
        problems += [] if fault.may_die or is_trap else [f"{fault.text}: died: {service.log[-300:]}"]
    else:
        seen["refused" if any(status >= 500 for status in statuses) else "went on"] += 1
    if fault.restarts or not service.is_alive:
        service.kill()
        service = place.start()
    row.attempt(place, *problems, *(f"{fault.text}: {problem}" for problem in recovers(place)))
    return service


def failing_calls(setup: Setup) -> Iterator[Row]:
    rows: dict[str, tuple[Row, Counter[str]]] = {}
    with setup.place() as place:
        service = place.start()
        place.keep_checkpoints()
        load = place.load(connections=8, rate=400, patience=5)
        place.wait_for_signatures()
        for fault in table(setup.is_long):
            started = time.monotonic()
            name = f"{fault.calls} {fault.injection.replace('error=', '').replace('signal=', '')}"
            row, seen = rows.setdefault(name, (Row(name), Counter()))
            try:
                service = try_fault(place, service, fault, row, seen)
            except (Failure, OSError, sqlite3.Error) as error:
                row.tried += 1
                row.problems.append(f"{fault.text}: {error!r}")
                service.kill()
                service = place.start()
            row.seconds += time.monotonic() - started
        load.stop()
        last = Row("after all of these, from the beginning", 1, 1)
        last.problems += [] if service.stop() == 0 else ["it did not stop in order"]
        last.conclude(place)
    for row, seen in rows.values():
        row.notes.append(", ".join(f"{what} {count}" for what, count in sorted(seen.items())))
        yield row
    yield last
