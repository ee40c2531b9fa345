# SPDX-License-Identifier: Apache-2.0
"""System calls fail one by one while the service starts: it comes up rightly or says why not, and then starts again."""
import time
from collections import Counter
from collections.abc import Iterator

from place import Failure, Place, eventually
from trial import Row, Setup, recovers, timed

INJECTIONS = {
    "pwrite64": ["error=EIO", "error=ENOSPC", "signal=SIGKILL"],
    "pread64": ["error=EIO"],
    "fdatasync": ["error=EIO", "signal=SIGKILL"],
    "fsync": ["error=EIO"],
    "ftruncate": ["error=EIO", "signal=SIGKILL"],
    "openat": ["error=EACCES", "error=EMFILE"],
    "read": ["error=EIO"],
    "rename,renameat,renameat2": ["error=EIO", "signal=SIGKILL"],
    "flock": ["error=ENOLCK"],
    "socket": ["error=ENFILE"],
    "listen": ["error=EADDRINUSE"],
    "epoll_create1": ["error=EMFILE"],
    "eventfd2": ["error=EMFILE"],
    "mlock": ["error=ENOMEM"],
    "mmap": ["error=ENOMEM"],
}

# Swift's runtime and its dispatch library end the process when they get no memory, can't make what they wait with, or
# can't read what the system says of its processors and threads.
MAY_DIE = ("mmap", "epoll_create1", "eventfd2", "openat")


def start_with(place: Place, calls: str, injection: str, number: int) -> tuple[str, list[str]]:
    """Starts the service so that one call fails; what it did, and what was wrong with that."""
    wrapper = ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "--seccomp-bpf", "-e", f"trace={calls}",
               "-e", "signal=none", "-e", f"inject={calls}:{injection}:when={number}"]
    service = place.start(wrapper=wrapper, waits=False)
    what = f"{calls} {injection}, call {number}"
    try:
        eventually("it listens or ends", lambda: not service.is_alive or service.is_listening, 20, 0.01)
        before = place.delivered()
        eventually("it signs or ends", lambda: not service.is_alive or place.delivered() > before + 1, 20, 0.01)
        if service.is_alive:
            return "came up", []
        code = service.process.returncode
        if code < 0 and "SIGKILL" not in injection and calls not in MAY_DIE:
            return "crashed", [f"{what}: ended by signal {-code}: {service.log[-300:]}"]
        return "said why not" if code > 0 else "died", []
    except Failure as failure:
        return "hung", [f"{what}: {failure}"]
    finally:
        service.kill()


def failing_starts(setup: Setup) -> Iterator[Row]:
    started, row, seen = time.monotonic(), Row("one system call fails while the service starts"), Counter[str]()
    with setup.place() as place:
        load = place.load(connections=2, rate=100)
        place.start()
        place.wait_for_signatures()
        place.services[-1].kill()
        for calls, injections in INJECTIONS.items():
            for injection in injections:
                for number in setup.choose((1, 6), range(1, 40)):
                    what, problems = start_with(place, calls, injection, number)
                    seen[what] += 1
                    service = place.start()
                    row.attempt(place, *problems)
                    service.kill()
        place.start()
        row.problems += recovers(place)
        load.stop()
        place.services[-1].stop()
        row.conclude(place)
    row.notes.append(", ".join(f"{what} {count}" for what, count in sorted(seen.items())))
    yield timed(row, started)
