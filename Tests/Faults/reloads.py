# SPDX-License-Identifier: Apache-2.0
"""Files change and SIGHUP comes a hundred times a second, while requests are answered."""
import hashlib
import signal
import time
from collections.abc import Iterator

from place import Place
from trial import Row, Setup, recovers, timed


def policy(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def variants(place: Place) -> tuple[dict[str, str], list[str]]:
    """Catalogs that differ in one rule, which the answers repeat; and texts that must not come into force."""
    text = place.text("demo/offers")
    good = {str(days): text.replace("lapsed: { atLeastDays: 30 }", f"lapsed: {{ atLeastDays: {days} }}")
            for days in (30, 31, 32)}
    bad = [text[:len(text) // 2], "", text.replace("atMost: 3,", "atMost: -3,"), text.replace("eligibility", "eligble")]
    return good, bad


def contradictions(place: Place, by_policy: dict[str, str]) -> list[str]:
    """Answers that were not given by one whole configuration."""
    problems = []
    for line in place.answers_since(0):
        if line["status"] == 200:
            decision = line["answer"]["decision"]
            needed = by_policy.get(decision["policy"])
            because = next((one["because"] for one in decision["findings"] if one["rule"] == "lapsed"), "")
            if needed is None or f", {needed} needed" not in because:
                problems.append(f"{line['key']} was granted by {decision['policy']}, {because!r}")
    return problems


def reload_storm(setup: Setup) -> Iterator[Row]:
    started, row = time.monotonic(), Row("SIGHUP 100 times a second, files right and wrong")
    with setup.place() as place:
        good, bad = variants(place)
        by_policy = {policy(text): days for days, text in good.items()}
        service = place.start()
        place.keep_checkpoints()
        load = place.load(connections=8, rate=800)
        place.wait_for_signatures(200)
        memory = service.memory()
        for _ in range(setup.choose(5, 60)):
            for _ in range(100):
                texts = list(good.values()) if setup.dice.random() < 0.6 else bad
                place.write("offers", setup.dice.choice(texts))
                service.send(signal.SIGHUP)
                time.sleep(0.01)
            row.attempt(place, *([] if service.is_alive else ["it died"]))
        reloads = service.metric("reloads_total")
        last = good["31"]
        place.write("offers", last)
        service.send(signal.SIGHUP)
        time.sleep(1)
        offset = place.answers_end()
        row.problems += recovers(place, 20)
        used = {line["answer"]["decision"]["policy"] for line in place.answers_since(offset) if line["status"] == 200}
        row.problems += [] if used == {policy(last)} else [f"the last files are not what is in force: {used}"]
        load.stop()
        row.problems += contradictions(place, by_policy)
        row.problems += [] if place.checker.policies <= set(by_policy) else ["the log has catalogs that the test did not write"]
        row.notes.append(f"{reloads:.0f} reloads, {len(place.checker.policies)} catalogs in force, memory "
                         f"{memory / 1e6:.0f} → {service.memory() / 1e6:.0f} MB")
        row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
        row.conclude(place)
    yield timed(row, started)
