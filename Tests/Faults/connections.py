# SPDX-License-Identifier: Apache-2.0
"""Ten thousand idle connections, more than are allowed, and clients that are slow on purpose."""
import resource
import select
import socket
import time
from collections.abc import Iterator

from place import Failure, Place, Service, eventually
from trial import Row, Setup, percentile, timed

QUESTION = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
LARGE = b"GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect(place: Place, source: str, receive_buffer: int | None = None) -> socket.socket:
    connection = socket.socket()
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(20)
    connection.bind((source, 0))
    connection.connect(("127.0.0.1", place.port))
    return connection


def address(index: int, each: int = 200) -> str:
    """Another network for every `each` connections: they are limited per address and per network."""
    return f"127.1.{index // each % 250}.{1 + index // each // 250}"


def with_many_descriptors(count: int) -> list[str]:
    """Lets this process and the service have `count` open files; returns the words to start the service with."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
    return ["prlimit", f"--nofile={count}:{count}"]


def latencies(place: Place, count: int) -> list[float]:
    """The seconds that questions on a connection of their own take, one after the other."""
    found = []
    connection = connect(place, "127.0.0.1")
    for _ in range(count):
        started = time.monotonic()
        connection.sendall(QUESTION)
        connection.recv(4096)
        found.append(time.monotonic() - started)
    connection.close()
    return found


def opened(place: Place, count: int) -> list[socket.socket]:
    """Connections that have asked once, and are idle from then on."""
    found = []
    for index in range(count):
        connection = connect(place, address(index))
        connection.sendall(QUESTION)
        found.append(connection)
    for connection in found:
        if not connection.recv(4096).startswith(b"HTTP/1.1 200"):
            raise Failure("an idle connection was refused")
    return found


def idle_connections(setup: Setup) -> Row:
    started, count = time.monotonic(), 10_000
    row = Row(f"{count:,} idle connections")
    with setup.place() as place:
        service = place.start("--connections", str(count + 50), wrapper=with_many_descriptors(count + 2000))
        load = place.load(connections=8, rate=200)
        place.wait_for_signatures()
        before, quiet = service.memory(), latencies(place, 200)
        idle = opened(place, count)
        each = (service.memory() - before) / count
        busy = latencies(place, 200)
        delivered = place.delivered()
        time.sleep(1)
        problems = [] if place.delivered() > delivered + 20 else ["signatures are no longer delivered beside them"]
        problems += [] if service.metric("open_connections") >= count else ["they are not all open"]
        problems += [] if each < 16_000 else [f"{each:.0f} bytes of memory for each"]
        problems += beyond_the_limit(place, service, count)
        for connection in idle:
            connection.close()
        eventually("they are forgotten", lambda: service.metric("open_connections") < 50)
        row.attempt(place, *problems)
        load.stop()
        row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
        row.conclude(place)
    row.notes.append(f"{each:.0f} bytes each; p50 of an answer {1000 * percentile(quiet, 0.5):.2f} ms before, "
                     f"{1000 * percentile(busy, 0.5):.2f} ms beside them")
    return timed(row, started)


def beyond_the_limit(place: Place, service: Service, count: int) -> list[str]:
    """Opens more than are allowed in all: the service closes those that were idle for longest, and no others."""
    extra, taken = [], 0
    for index in range(100):
        connection = socket.socket()
        connection.settimeout(0.02)
        connection.bind((f"127.2.0.{1 + index}", 0))
        try:
            connection.connect(("127.0.0.1", place.port))
            connection.sendall(QUESTION)
            taken += connection.recv(4096).startswith(b"HTTP/1.1 200")
        except OSError:
            pass
        extra.append(connection)
    problems = [] if taken > 90 else [f"only {taken} of {len(extra)} newcomers found room"]
    now_open = service.metric("open_connections")
    problems += [] if now_open <= count + 50 else [f"{now_open:.0f} are open, {count + 50} allowed"]
    problems += [] if service.is_alive else ["it died"]
    for connection in extra:
        connection.close()
    return problems


def too_many_from_one(setup: Setup) -> Row:
    started, row = time.monotonic(), Row("300 connections from one address, 256 allowed")
    with setup.place() as place:
        service = place.start()
        load = place.load(connections=8, rate=200, many_addresses=True)
        place.wait_for_signatures()
        connections = [connect(place, "127.3.0.1") for _ in range(300)]
        answers = []
        for connection in connections:
            try:
                connection.sendall(QUESTION)
                answers.append(connection.recv(4096).split(b" ")[1])
            except (OSError, IndexError):
                answers.append(b"closed")
        problems = [] if answers.count(b"200") == 256 else [f"{answers.count(b'200')} were let in"]
        for connection in connections:
            connection.close()
        row.attempt(place, *problems)
        load.stop()
        row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
        row.conclude(place)
    row.notes.append(", ".join(f"{status.decode()}: {answers.count(status)}" for status in sorted(set(answers))))
    return timed(row, started)


class Slow:
    """Many connections that do their worst, and when each was cut off."""

    def __init__(self, place: Place, first: int, count: int, start: bytes, drip: bytes, reads: bool = True) -> None:
        self._drip, self._reads = drip, reads
        self.ended: list[float] = []
        self._open: dict[socket.socket, float] = {}
        for index in range(first, first + count):
            connection = connect(place, address(index), None if reads else 2048)
            connection.sendall(start)
            connection.setblocking(False)
            self._open[connection] = time.monotonic()

    @property
    def open(self) -> int:
        return len(self._open)

    def turn(self) -> None:
        for connection, since in list(self._open.items()):
            if self._has_ended(connection):
                self.ended.append(time.monotonic() - since)
                connection.close()
                del self._open[connection]

    def _has_ended(self, connection: socket.socket) -> bool:
        try:
            if self._reads and connection.recv(4096) == b"":
                return True
        except BlockingIOError:
            pass
        except OSError:
            return True
        try:
            connection.send(self._drip)
        except BlockingIOError:
            # Who never reads can't send for ever either; whether the other side has gone shows in the socket's state.
            return connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0 or has_gone(connection)
        except OSError:
            return True
        return not self._reads and has_gone(connection)


def has_gone(connection: socket.socket) -> bool:
    """Whether the other side has reset or closed the connection, without reading from it."""
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))


def signatures_a_second(place: Place, seconds: float) -> float:
    before = place.delivered()
    time.sleep(seconds)
    return (place.delivered() - before) / seconds


def slow_clients(setup: Setup) -> Row:
    started, count = time.monotonic(), setup.choose(300, 900)
    row = Row(f"{3 * count} slow clients at once: heads, bodies, answers not read")
    with setup.place() as place:
        service = place.start("--connections", "8192", wrapper=with_many_descriptors(10_000))
        load = place.load(connections=8, rate=200)
        place.wait_for_signatures(100)
        before, most, usual = service.memory(), 0, signatures_a_second(place, 2)
        body = (b"POST /v1/app-store/promotional-offers/signatures HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: 9000\r\n\r\n{")
        kinds = {"heads": (Slow(place, 0, count, b"GET /health/live HT", b"T"), 3 * 5),
                 "bodies": (Slow(place, count, count, body, b" "), 3 * 10),
                 "answers not read": (Slow(place, 2 * count, count, LARGE * 40, LARGE, reads=False), 3 * 30)}
        delivered, since = place.delivered(), time.monotonic()
        while any(slow.open for slow, _ in kinds.values()) and time.monotonic() < since + 100:
            for slow, _ in kinds.values():
                slow.turn()
            most = max(most, service.memory())
            time.sleep(0.25)
        problems = []
        for name, (slow, limit) in kinds.items():
            if slow.open:
                problems.append(f"{slow.open} of the slow {name} are still connected")
            elif max(slow.ended) > limit:
                problems.append(f"slow {name} were cut off after {max(slow.ended):.1f} s")
        rate = (place.delivered() - delivered) / (time.monotonic() - since)
        problems += [] if rate > usual / 4 else [f"others got {rate:.0f} signatures a second, {usual:.0f} before"]
        problems += [] if most - before < 200e6 else [f"memory grew by {(most - before) / 1e6:.0f} MB"]
        row.attempt(place, *problems)
        counts = load.stop()
        row.problems += ["others had requests without an answer"] if "no answer" in counts else []
        row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
        row.conclude(place)
    row.notes.append(", ".join(f"{name} cut off after {max(slow.ended, default=0):.1f} s at most"
                               for name, (slow, _) in kinds.items()))
    row.notes.append(f"others got {rate:.0f} signatures a second, {usual:.0f} before; memory grew by "
                     f"{(most - before) / 1e6:.0f} MB")
    return timed(row, started)


def many_connections(setup: Setup) -> Iterator[Row]:
    yield idle_connections(setup)
    yield too_many_from_one(setup)
    yield slow_clients(setup)
