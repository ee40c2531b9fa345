# SPDX-License-Identifier: Apache-2.0
"""The service is killed again and again while it delivers events; what arrived is compared with the log."""
import copy
import hashlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

from place import ENDS_WITH_US, HERE, PYTHON, Failure, Place, eventually
from trial import Row, Setup, recovers, timed

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MODES = ["fail", "hang", "redirect", "gone"]
Object = dict[str, Any]


def python_with_library() -> str:
    """A Python that has `standardwebhooks`, made on first use."""
    folder = os.path.join(HERE, "../../.build/standard-webhooks")
    python, mark = os.path.join(folder, "bin/python"), os.path.join(folder, "complete")
    if not os.path.exists(mark):
        subprocess.run([PYTHON, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "standardwebhooks>=1,<2"], check=True)
        with open(mark, "w", encoding="ascii"):
            pass
    return python


class Receivers:
    """The process of webhooks.py, which outlives every kill."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.be(MODES[0])
        words = [python_with_library(), "-B", os.path.join(HERE, "webhooks.py"), place.path("webhooks-port"),
                 place.path("webhooks-mode"), place.path("webhooks"), SECRET]
        with open(place.path("webhooks-errors"), "wb") as errors:
            self._process = subprocess.Popen([*ENDS_WITH_US, *words], stderr=errors)
        eventually("the receivers listen", lambda: os.path.exists(place.path("webhooks-port")))
        self.url = f"http://127.0.0.1:{place.text('webhooks-port')}"

    def be(self, mode: str) -> None:
        path = self._place.path("webhooks-mode")
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(mode)
        os.rename(path + ".new", path)

    def lines(self) -> list[Object]:
        if not os.path.exists(self._place.path("webhooks")):
            return []
        return [json.loads(line) for line in self._place.text("webhooks").splitlines()]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def write_events_file(place: Place, url: str) -> str:
    place.write("events.secret", SECRET)
    endpoints = [{"id": name, "url": f"{url}/{name}", "secrets": ["events.secret"]} for name in ("good", "rude")]
    streams = [{"id": "own", "file": "own.ndjson"}]
    place.write("events", json.dumps({"privateNetworks": ["127.0.0.1"], "endpoints": endpoints, "streams": streams}))
    return place.path("demo/events")


class Evidence:
    """What arrived, beside what the log says."""

    def __init__(self, place: Place, lines: list[Object]) -> None:
        self.entries = dict(place.checker.records.entries(0))
        self.messages = [line for line in lines if line["path"] != "/rude"]
        self.asked = [line["mode"] for line in lines if line["path"] == "/rude"]
        self.stream = [json.loads(line) for line in place.text("demo/own.ndjson").splitlines()]
        # What the log had before the receivers were known was not for them.
        self.first = min(line["index"] for line in self.stream)

    def problems(self) -> list[str]:
        return [*self._of_signatures(), *self._of_events(), *self._of_order(), *self._of_stream(), *self._of_rudeness()]

    def is_incomplete(self) -> bool:
        return any((*self._of_events(), *self._of_stream()))

    def _events(self) -> list[tuple[Object, Object]]:
        return [(line, json.loads(line["body"])) for line in self.messages if line["signed"]]

    def _of_signatures(self) -> Iterator[str]:
        unsigned = [line["id"] for line in self.messages if not line["signed"]]
        if unsigned:
            yield f"{len(unsigned)} messages are not signed, or went elsewhere: {unsigned[:3]}"

    def _of_events(self) -> Iterator[str]:
        """Each event has its entry, and each grant its event."""
        delivered = set()
        for line, event in self._events():
            index = event["data"]["index"]
            entry = self.entries.get(index)
            if entry is None:
                yield f"{line['id']} is of entry {index}, which the log has not"
                continue
            leaf = hashlib.sha256(b"\0" + entry).hexdigest()
            if line["id"] != f"evt_{index}_{leaf[:16]}":
                yield f"{line['id']} is not the event of entry {index}, {leaf[:16]}"
            if event["type"] == "offer.granted":
                delivered.add(event["data"]["grantId"])
                if json.loads(entry).get("grant") != event["data"]["grantId"]:
                    yield f"{line['id']} names another grant than its entry"
        missing = self.granted() - delivered
        if missing:
            yield f"{len(missing)} of {len(self.granted())} grants have no event: {sorted(missing)[:3]}"

    def granted(self) -> set[str]:
        entries = (json.loads(entry) for index, entry in self.entries.items() if index >= self.first)
        return {entry["grant"] for entry in entries if entry["ev"] == "sign.intent"}

    def _of_order(self) -> Iterator[str]:
        """Reports events of a customer that first arrived out of order; repeated events do not count."""
        last: dict[str, int] = {}
        seen: set[str] = set()
        for line, event in self._events():
            if line["id"] in seen:
                continue
            seen.add(line["id"])
            index = event["data"]["index"]
            for customer in event["data"].get("customers", []):
                if index < last.get(customer, -1):
                    yield f"{customer} got {index} after {last[customer]}"
                last[customer] = max(index, last.get(customer, -1))

    def _of_stream(self) -> Iterator[str]:
        """The file has every entry, in order where it has it first, as the log has it."""
        expected = self.first
        for line in self.stream:
            entry = self.entries.get(line["index"], b"{}")
            leaf = hashlib.sha256(b"\0" + entry).hexdigest()
            if (json.loads(entry), leaf) != (line["entry"], line["hash"]):
                yield f"the file has another entry {line['index']} than the log"
            if line["index"] > expected:
                yield f"the file has {line['index']} after {expected - 1}"
            expected = max(expected, line["index"] + 1)
        if expected != len(self.entries):
            yield f"the file ends before {expected}, the log before {len(self.entries)}"

    def _of_rudeness(self) -> Iterator[str]:
        unmet = [mode for mode in MODES if mode not in self.asked]
        if unmet:
            yield f"the rude receiver was never asked while it did this: {unmet}"

    def note(self) -> str:
        again = len(self._events()) - len({line["id"] for line, _ in self._events()})
        return (f"{len(self.granted())} grants, {len(self._events())} messages taken, {again} of them again; "
                f"{len(self.asked)} to the rude receiver; {len(self.stream)} lines for "
                f"{len(self.entries) - self.first} entries")


def altered(evidence: Evidence) -> Iterator[tuple[str, Evidence]]:
    """The same evidence with one thing wrong each time."""
    def without_grant(wrong: Evidence) -> None:
        grant = json.loads(wrong.messages[0]["body"])["data"]["grantId"]
        wrong.messages = [line for line in wrong.messages if grant not in line["body"]]

    def out_of_order(wrong: Evidence) -> None:
        wrong.messages.reverse()

    def made_up(wrong: Evidence) -> None:
        wrong.messages.append({**wrong.messages[0], "id": "evt_0_0000000000000000"})

    def unsigned(wrong: Evidence) -> None:
        wrong.messages[0]["signed"] = False

    def with_gap(wrong: Evidence) -> None:
        index = wrong.stream[len(wrong.stream) // 2]["index"]
        wrong.stream = [line for line in wrong.stream if line["index"] != index]

    def cut_off(wrong: Evidence) -> None:
        last = len(wrong.entries) - 1
        wrong.stream = [line for line in wrong.stream if line["index"] != last]

    changes: list[Callable[[Evidence], None]] = [without_grant, out_of_order, made_up, unsigned, with_gap, cut_off]
    for change in changes:
        wrong = copy.deepcopy(evidence)
        change(wrong)
        yield change.__name__.replace("_", " "), wrong


def delivered(place: Place, receivers: Receivers) -> Evidence:
    """The evidence once nothing is missing, or after two minutes."""
    def whole() -> Evidence | None:
        found = Evidence(place, receivers.lines())
        return None if found.is_incomplete() else found
    try:
        evidence: Evidence = eventually("everything is delivered", whole, 120, 1)
        return evidence
    except Failure:
        return Evidence(place, receivers.lines())


def end_in_order(place: Place, receivers: Receivers, events: str) -> tuple[Evidence, list[str]]:
    """Lets a last service deliver the rest; what is wrong if it forgot that a receiver is gone."""
    delivered(place, receivers)
    problems = []
    rude = next(line for line in place.tool("events", "endpoints", "--events", events).splitlines() if "rude" in line)
    if "disabled since" not in rude:
        problems.append(f"a receiver that answered 410 is not disabled: {rude}")
    if place.services[-1].stop() != 0:
        problems.append("it did not stop in order")
    # The next service sends the events for the entries of this service's end.
    place.start("--events", events)
    return delivered(place, receivers), problems


def event_kills(setup: Setup) -> Iterator[Row]:
    started, row = time.monotonic(), Row("kill -9 while events are delivered")
    rounds, amid_work = setup.choose(40, 200), 0
    with setup.place() as place:
        receivers = Receivers(place)
        try:
            events = write_events_file(place, receivers.url)
            service = place.start("--events", events)
            load = place.load(connections=8, rate=40)
            for number in range(rounds):
                receivers.be(MODES[len(MODES) * number // rounds])
                before = place.delivered()
                # Positions are stored once a second, so some kills come before and some after that.
                time.sleep(setup.dice.uniform(0.05, 2.2))
                service.kill()
                amid_work += place.delivered() > before
                service = place.start("--events", events)
                row.attempt(place)
            row.problems += recovers(place)
            load.stop()
            evidence, problems = end_in_order(place, receivers, events)
            row.conclude(place)
        finally:
            receivers.close()
    problems += evidence.problems()
    row.problems += problems
    row.lost += sum("no event" in problem or "the file" in problem for problem in problems)
    row.notes += [evidence.note(), f"{amid_work} killed amid answers"]
    yield timed(row, started)
    shown = Row("the same evidence, altered")
    for name, wrong in altered(evidence):
        shown.tried += 1
        shown.survived += bool(wrong.problems())
        shown.problems += [] if wrong.problems() else [f"{name}: not noticed"]
    yield shown
