# SPDX-License-Identifier: Apache-2.0
"""Three instances share one PostgreSQL database, and are killed at random while 200 connections ask."""
import time
from collections.abc import Iterator

from checker import Checker
from cluster import Cluster, programs
from place import Failure, Load, Place, Service, eventually, free_port
from trial import Row, Setup, recovers, timed

INSTANCES = 3
CUSTOMERS = 1_000
ATTEMPTS = 3


class Instance:
    """One of the services: a port and a checkpoint file of its own, it shares the rest with the others."""

    def __init__(self, place: Place, number: int, *options: str) -> None:
        self._place, self._number, self._options = place, number, options
        self.port = free_port()
        self.service = self.start()

    def start(self, waits: bool = True) -> Service:
        self._place.port = self.port
        self._place.checkpoint_file = self._place.path(f"demo/log-{self._number}.checkpoint")
        self.service = self._place.start(*self._options, waits=waits)
        return self.service

    def load(self, **options: object) -> Load:
        self._place.port = self.port
        return self._place.load(**options)


def capped(place: Place, cap: int) -> Checker:
    """Holds every customer to one grant, and the checker too."""
    place.edit("offers", "atMost: 3,", f"atMost: {cap},")
    place.checker = place.fresh_checker(cap)
    return place.checker


def three_instances(setup: Setup, place: Place) -> Row:
    """Every instance is asked for every customer, with the same idempotency keys; so most of it meets another's."""
    started, row = time.monotonic(), Row(f"{INSTANCES} instances, kill -9 of one under load")
    capped(place, 1)
    instances = [Instance(place, number) for number in range(INSTANCES)]
    place.keep_checkpoints()
    loads = [
        instance.load(run="instances", connections=200 // INSTANCES + 1, attempts=ATTEMPTS,
                      requests=CUSTOMERS * ATTEMPTS, patience=30)
        for instance in instances
    ]
    kills, wanted = 0, setup.choose(12, 100)
    while kills < wanted:
        time.sleep(setup.dice.uniform(0.1, 0.6))
        instance = setup.dice.choice(instances)
        instance.service.kill()
        instance.start()
        kills += 1
        row.attempt(place)
    for load in loads:
        load.finish()
    for instance in instances:
        row.problems += [] if instance.service.stop() == 0 else ["an instance did not stop in order"]
    row.conclude(place)
    grants = place.checker.summary()["grants"]
    if grants != CUSTOMERS:
        row.problems.append(f"{CUSTOMERS} customers with a cap of 1 have {grants} grants")
    row.notes.append(f"{CUSTOMERS} customers, cap 1: {grants} grants")
    return timed(row, started)


def held_up(setup: Setup, place: Place) -> Row:
    """A stopped instance must not keep the others from granting, and must not sign late what it had decided."""
    started, row = time.monotonic(), Row("an instance hangs (SIGSTOP) for up to 5 s")
    instances = [Instance(place, number) for number in range(2)]
    load = instances[0].load(connections=8, rate=200, patience=30)
    beside = instances[1].load(connections=8, rate=200, patience=30)
    for _ in range(setup.choose(3, 30)):
        place.wait_for_signatures()
        instances[1].service.send(19)
        time.sleep(setup.dice.uniform(1.2, 2))
        before = place.delivered()
        time.sleep(setup.dice.uniform(1, 3))
        problems = [] if place.delivered() > before else ["the other instance granted nothing meanwhile"]
        instances[1].service.send(18)
        eventually("it is ready again", instances[1].service.is_ready, 30)
        row.attempt(place, *problems)
    for client in (load, beside):
        client.stop()
    for instance in instances:
        row.problems += [] if instance.service.stop() == 0 else ["an instance did not stop in order"]
    row.conclude(place)
    return timed(row, started)


def sealed(setup: Setup, place: Place) -> Row:
    """Every instance has stopped signing when the seal command returns."""
    started, row = time.monotonic(), Row("seal and unseal beside two instances")
    instances = [Instance(place, number) for number in range(2)]
    loads = [instance.load(connections=8, rate=200, patience=30) for instance in instances]
    for _ in range(setup.choose(5, 50)):
        place.wait_for_signatures()
        asked = time.monotonic()
        place.tool("seal", "--reason", "drill")
        took = time.monotonic() - asked
        before = place.answers_end()
        time.sleep(0.5)
        late = [answer for answer in place.answers_since(before)
                if answer["status"] == 200 and answer["sent"] > time.time() - 0.5]
        place.tool("unseal", "--reason", "drill")
        row.attempt(place, *[f"{len(late)} signatures after the seal" for _ in late[:1]], *recovers(place))
        row.notes = [f"the command took {took:.2f} s"]
    for load in loads:
        load.stop()
    for instance in instances:
        row.problems += [] if instance.service.stop() == 0 else ["an instance did not stop in order"]
    row.conclude(place)
    return timed(row, started)


def several_instances(setup: Setup) -> Iterator[Row]:
    if programs() is None:
        yield Row("several instances", skipped="not tried: postgresql is not installed")
        return
    for trial in (three_instances, held_up, sealed):
        try:
            with Cluster.serving("offers") as cluster, Place(setup.binary, cluster.url("offers")) as place:
                yield trial(setup, place)
        except Failure as failure:
            yield Row(trial.__name__, 1, 0, problems=[str(failure)])
