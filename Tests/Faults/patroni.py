# SPDX-License-Identifier: Apache-2.0
"""Two instances on three PostgreSQL nodes that fail over by themselves: each event by each way to connect.

Both instances get the same requests with the same idempotency keys, and each customer may have one grant. No instance is
started again, or unsealed, while its way to connect is tried.
"""
import collections
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from failover import obstacles
from instances import Instance, capped
from nodes import Node, Nodes, missing
from place import Failure, Place, eventually
from trial import Row, Setup, percentile, timed

INSTANCES, CONNECTIONS, RATE = 2, 8, 150
# An event is over once each instance has delivered this number of signatures for requests that were sent after it.
ENOUGH = 20
# An outage is noticed by then; requests that come later are refused at once.
NOTICED = 6.0
# How long a node stays away after signatures are made again.
AWAY = 5.0
Answers = list[dict[str, Any]]


class Promotion(threading.Thread):
    """Notes when another node becomes the primary."""

    def __init__(self, nodes: Nodes, old: Node) -> None:
        super().__init__(daemon=True)
        self._others = [node for node in nodes.nodes if node is not old]
        self._ending, self._began = threading.Event(), time.monotonic()
        self.seconds: float | None = None
        self.start()

    def run(self) -> None:
        while self.seconds is None and not self._ending.wait(0.1):
            if any(node.is_primary() for node in self._others):
                self.seconds = time.monotonic() - self._began

    def end(self) -> None:
        self._ending.set()
        self.join()


def switch_over(primary: Node) -> None:
    status, body = primary.ask("POST", "/switchover", {"leader": primary.name}, timeout=60)
    if status != 200:
        raise Failure(f"switchover: {status} {body.decode()}")


# What happens to the primary's node, and what brings it back once signatures are made again.
EVENTS: dict[str, tuple[Callable[[Node], None], Callable[[Node], None]]] = {
    "switchover": (switch_over, lambda node: None),
    "kill -9 of PostgreSQL alone": (lambda node: node.send(signal.SIGKILL, "postgres"), lambda node: None),
    "kill -9 of the node": (Node.kill, Node.start),
    "SIGSTOP, SIGCONT of the node": (Node.freeze, lambda node: node.send(signal.SIGCONT)),
}


@dataclass
class Seen:
    """What clients saw of one event, over all its turns."""
    pauses: list[float] = field(default_factory=list)
    promotions: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    # Refusals of requests that came once it was noticed, and those of them that took a second or more.
    later: int = 0
    later_slow: int = 0
    errors: collections.Counter[str] = field(default_factory=collections.Counter)
    delivered: int = 0

    def add(self, answers: Answers, ports: list[int], began: float, ended: float) -> None:
        self.pauses.append(max(longest_pause(answers, port, began, ended) for port in ports))
        self.took += [answer["took"] for answer in answers if answer["sent"] + answer["took"] > began]
        later = [answer["took"] for answer in answers if answer["status"] >= 500 and answer["sent"] > began + NOTICED]
        self.later += len(later)
        self.later_slow += sum(took > 1 for took in later)
        self.delivered += sum(answer["status"] == 200 for answer in answers)
        self.errors.update(f"{answer['status']} {str(answer['problem']).removeprefix('/problems/')}"
                           for answer in answers if answer["status"] not in (200, 403))

    def notes(self) -> list[str]:
        errors = ", ".join(f"{count} × {kind}" for kind, count in sorted(self.errors.items()))
        promoted = f"promoted after {percentile(self.promotions, 0.5):.1f} s" if self.promotions else "up again in place"
        return [f"no signatures for {percentile(self.pauses, 0.5):.1f} s, {max(self.pauses, default=0):.1f} s at most",
                promoted, errors or "no errors",
                f"slowest answer {max(self.took, default=0):.1f} s",
                f"{self.later_slow} of {self.later} refusals from {NOTICED:g} s on took over 1 s",
                f"{self.delivered} delivered"]


def longest_pause(answers: Answers, port: int, began: float, ended: float) -> float:
    """The longest time in which an instance delivered no signature."""
    times = (answer["sent"] + answer["took"] for answer in answers if answer["status"] == 200 and answer["port"] == port)
    edges = sorted([began, *[each for each in times if began < each < ended], ended])
    return max(later - earlier for earlier, later in zip(edges, edges[1:]))


class Bench:
    """Instances that reach the nodes in one way."""

    def __init__(self, place: Place, nodes: Nodes, way: str) -> None:
        self._place, self._nodes, self._way = place, nodes, way
        place.database = nodes.urls[way]
        self._instances = [Instance(place, number) for number in range(INSTANCES)]

    def rows(self, turns: int) -> Iterator[Row]:
        for name in EVENTS:
            started, row, seen = time.monotonic(), Row(f"{name}; {self._way}"), Seen()
            over = self._place.checker.counts["over cap"]
            for turn in range(turns):
                row.attempt(self._place, *self._turn(name, turn, seen))
            row.notes += [*seen.notes(), f"{row.lost} missing", f"{self._place.checker.counts['over cap'] - over} over cap"]
            yield timed(row, started)
            if not row.is_good:
                break

    def _turn(self, name: str, turn: int, seen: Seen) -> list[str]:
        """One event under load; what is wrong afterwards."""
        old, run = self._nodes.wait_until_whole(), f"{self._way}-{name}-{turn}".replace(" ", "-")
        loads = [instance.load(run=run, connections=CONNECTIONS, rate=RATE, attempts=2, patience=30)
                 for instance in self._instances]
        offset = self._place.answers_end()
        self._place.wait_for_signatures(100)
        began, problems = time.time(), list[str]()
        promotion = Promotion(self._nodes, old)
        try:
            self._happen(name, old)
        except Failure as failure:
            problems.append(str(failure))
        ended = time.time()
        promotion.end()
        for load in loads:
            counts = load.stop()
            seen.errors.update({kind: counts[kind] for kind in ("no answer", "no connection") if counts.get(kind)})
        seen.promotions += [promotion.seconds] if promotion.seconds is not None else []
        seen.add(self._place.answers_since(offset), [instance.port for instance in self._instances], began, ended)
        return problems + self._not_well()

    def _happen(self, name: str, old: Node) -> None:
        happens, ends = EVENTS[name]
        happens(old)
        self._wait_for_signatures()
        time.sleep(AWAY)
        ends(old)
        # A node that comes back may do harm too.
        self._nodes.wait_until_whole()
        self._wait_for_signatures()

    def _wait_for_signatures(self) -> None:
        """Until each instance signs what it is asked from now on."""
        since, offset, found = time.time(), self._place.answers_end(), collections.Counter[int]()

        def each_signs() -> bool:
            nonlocal offset
            end = self._place.answers_end()
            found.update(answer["port"] for answer in self._place.answers_since(offset, end)
                         if answer["status"] == 200 and answer["sent"] > since)
            offset = end
            return all(found[instance.port] >= ENOUGH for instance in self._instances)
        eventually("each instance signs", each_signs, 120, 0.1)

    def _not_well(self) -> list[str]:
        """What is wrong with instances that should have gone on by themselves."""
        problems = []
        for number, each in enumerate(self._instances):
            if not each.service.is_alive:
                problems.append(f"instance {number} died")
            elif found := obstacles(each.service):
                problems.append(f"instance {number}: {found}")
        return problems

    def end(self) -> Row:
        stopped = [instance.service.stop() == 0 for instance in self._instances]
        return Row(f"instances stopped in order; {self._way}", len(stopped), sum(stopped))


def automatic_failovers(setup: Setup) -> Iterator[Row]:
    if lacking := missing():
        yield Row("automatic failover", skipped=f"not tried: {', '.join(lacking)} missing (Scripts/setup failover)")
        return
    with Nodes() as nodes, Place(setup.binary, nodes.direct) as place:
        capped(place, 1)
        place.keep_checkpoints()
        for way in nodes.urls:
            bench = Bench(place, nodes, way)
            yield from bench.rows(setup.choose(1, 3))
            yield bench.end()
        started, last = time.monotonic(), Row("automatic failover: from the beginning", 1, 1)
        last.conclude(place)
        yield timed(last, started)
