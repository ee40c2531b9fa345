# SPDX-License-Identifier: Apache-2.0
"""Two services get the same requests. One is killed, restarted and moved, and its secret is rotated; both must agree.

The untouched service says what the other must answer, so this trial has no expectations of its own. No secret is
destroyed, because that changes answers by design. With FAULTS_KEEP in the environment, a run that fails leaves its
folder, with all requests, answers and faults in the file `requests`.
"""
import collections
import json
import os
import time
from collections.abc import Iterator

from cluster import Cluster, programs
from differential_comparison import NEW_EACH_TIME, Comparison, Twins
from differential_customers import NAMES, Customer, Customers
from differential_faults import Disturbance
from differential_requests import SIGNATURES, Answers, Part, Requests
from differential_sides import Ask, Sides
from place import Failure
from records import open_records
from trial import Row, Setup, timed

FAULT = "requests answered alike after rotations, kills and moves"
KEEPS = "FAULTS_KEEP" in os.environ
KILL = "kill during a request"
# What a run must contain, in the short form; the long form needs five times as much.
LEAST = {"allowed": 150, "denied": 150, "repeated": 40, "back after a rotation": 30, "back under another name": 10,
         "without an answer and sent again": 3}


class Tally:
    """What was asked and answered, so that a run in which too little happened fails."""

    def __init__(self, customers: Customers) -> None:
        self._pool = customers
        self.kinds: collections.Counter[str] = collections.Counter()
        self.counts: collections.Counter[str] = collections.Counter()
        # By the customer's number: how many rotations there were at the last request, its names, and whether there is a
        # grant.
        self._last: dict[int, tuple[int, set[str], bool]] = {}

    def count(self, part: Part, rotations: int) -> None:
        body, status, answer = part
        is_denied = status == 403 and "decision" in answer
        self.counts["allowed" if status == 200 else "denied" if is_denied else "refused for other reasons"] += 1
        names = {body[name].lower() for name in NAMES if name in body}
        for customer in self._pool.all:
            if names & {name.lower() for name in customer.names.values()}:
                self._count_return(customer, names, rotations, status == 200)

    def _count_return(self, customer: Customer, names: set[str], rotations: int, is_granted: bool) -> None:
        """Counts the first request after a rotation for a customer who has grants."""
        last, last_names, has_grant = self._last.get(customer.number, (rotations, names, False))
        if has_grant and last < rotations:
            self.counts["back after a rotation"] += 1
            self.counts["back under another name"] += not names & last_names
        self._last[customer.number] = (rotations, names, has_grant or is_granted)

    def problems(self, factor: int) -> list[str]:
        return [f"only {self.counts[what]} {what}, {least * factor} expected" for what, least in LEAST.items()
                if self.counts[what] < least * factor]

    def notes(self) -> list[str]:
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.kinds.most_common())
        return [f"{self.kinds.total()} requests: {kinds}",
                ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items()))]


class Run:
    """Asks both sides, disturbs one, and compares."""

    def __init__(self, setup: Setup, sides: Sides, cluster: Cluster) -> None:
        self._setup, self._sides, self._place = setup, sides, sides.disturbed.place
        # The checker knows one cap for all offers. The untouched service knows those of this trial's offers.
        self._place.checker = self._place.fresh_checker(cap=None)
        self._place.keep_checkpoints()
        customers = Customers(setup.choose(24, 150), sides, setup.dice)
        self._requests, self._tally, self._twins = Requests(customers, setup.dice), Tally(customers), Twins(sides)
        self._disturbance = Disturbance(sides.disturbed, cluster, setup)

    def _plan(self) -> list[str]:
        """The faults, in random order. Moves lead to PostgreSQL and back in turn."""
        choose = self._setup.choose
        counts = {KILL: choose(24, 150), "kill": choose(2, 10), "restart": choose(2, 10), "rotation": choose(4, 12),
                  "move": choose(4, 12)}
        faults = [name for name, count in counts.items() for _ in range(count)]
        self._setup.dice.shuffle(faults)
        return faults

    def run(self, row: Row) -> None:
        """Ends at the first difference, because later ones can follow from it."""
        for fault in self._plan():
            problems = self._until(fault)
            row.attempt(self._place, *problems)
            if problems:
                return
        for ask in self._requests.last():
            row.problems += self._ask(ask)

    def _until(self, fault: str) -> list[str]:
        """Some requests, and then the fault."""
        for _ in range(self._setup.choose(22, 80)):
            problems = self._ask(self._requests.next())
            if problems:
                return problems
        self._note(fault)
        if fault != KILL:
            self._disturbance.do(fault)
            return []
        self._disturbance.counts[KILL] += 1
        return self._ask(self._requests.next(lambda ask: ask.is_repeatable), self._setup.dice.uniform(0.0005, 0.006))

    def _ask(self, ask: Ask, kill_after: float | None = None) -> list[str]:
        """What differs between the sides, or on one side from its first answer with the same key."""
        self._note(vars(ask))
        answers, is_second_try = self._twins.ask(ask, kill_after)
        self._note([vars(answer) for answer in answers])
        found = self._twins.differences(answers)
        found += self._changes(ask, answers) if ask.kind == "repetition" else []
        self._tally.kinds[ask.kind] += 1
        self._tally.counts["repeated"] += ask.kind == "repetition"
        self._tally.counts["without an answer and sent again"] += is_second_try
        for part in self._requests.parts(ask, answers[0]):
            self._tally.count(part, self._disturbance.rotations)
        self._requests.learn(ask, answers)
        self._record(ask, answers)
        title = f"request {self._tally.kinds.total()}, {ask.kind}, {ask.method} {ask.path[1]} {ask.body[1][:400]}"
        return [f"{title}: {what}" for what in found]

    def _note(self, what: object) -> None:
        if KEEPS:
            with open(self._place.path("requests"), "a", encoding="utf-8") as file:
                file.write(json.dumps(what) + "\n")

    def _changes(self, ask: Ask, answers: Answers) -> list[str]:
        """A repeated request must get the first grant, byte for byte except the signatures, whatever happened since."""
        comparison = Comparison(NEW_EACH_TIME, 0)
        for before, now in zip(self._requests.first_answers(ask), answers):
            for first, repeated in zip(self._requests.parts(ask, before), self._requests.parts(ask, now), strict=True):
                if first[1] == 200:
                    comparison.compare(list(first[1:]), list(repeated[1:]), "not as first answered, ")
        return comparison.found

    def _record(self, ask: Ask, answers: Answers) -> None:
        """Writes answers of the disturbed side for the checker, which knows customers by their customerId."""
        lines = []
        for number, (body, status, answer) in enumerate(self._requests.parts(ask, answers[1])):
            if "customerId" not in body:
                continue
            key = f"{ask.key or f'request-{self._tally.kinds.total()}'}/{number}"
            line = {"customer": body["customerId"], "key": key, "status": status, "codes": []}
            if status == 200 and ask.path[1].startswith(SIGNATURES):
                line |= {"answer": answer, "product": body["productId"], "offer": answer["identifier"],
                         "token": body["appAccountToken"].lower() if "appAccountToken" in body else None}
            elif status == 200:
                # The checker verifies promotional offers alone. It counts the others as asked for.
                line["status"] = 0
            lines.append(json.dumps(line) + "\n")
        with open(self._place.answers, "a", encoding="utf-8") as file:
            file.writelines(lines)

    def conclude(self, row: Row) -> None:
        for side in self._sides.both:
            row.problems += [] if side.service.stop() == 0 else ["it did not stop in order"]
        ledgers = [open_records(side.place.database).ledger() for side in self._sides.both]
        (first, counted), (second, also_counted) = ((len(grants), count) for grants, count in ledgers)
        if (first, counted) != (second, also_counted):
            row.problems.append(f"the ledgers have {first} and {second} grants, and count {counted} and {also_counted}")
        row.conclude(self._place)
        row.problems += self._tally.problems(self._setup.choose(1, 5)) if row.is_good else []
        row.notes += [*self._tally.notes(), self._disturbance.notes()]


def differential(setup: Setup) -> Iterator[Row]:
    started, row = time.monotonic(), Row(FAULT)
    if programs() is None:
        yield Row(FAULT, skipped="not tried: postgresql is not installed")
        return
    with Cluster.serving("offers") as cluster:
        sides = Sides(setup.binary)
        try:
            run = Run(setup, sides, cluster)
            run.run(row)
            run.conclude(row)
        except Failure as failure:
            row.problems.append(str(failure))
        finally:
            keeps = KEEPS and not row.is_good
            row.notes += [f"see {sides.disturbed.place.folder}"] if keeps else []
            sides.close(keeps)
    yield timed(row, started)
