# SPDX-License-Identifier: Apache-2.0
"""Instances that share a database are restarted one after the other behind the proxies of docs/operations/fleet.md.

No request may fail: each is answered 200, whatever is restarted meanwhile.
"""
import dataclasses
import os
import time
from collections.abc import Callable, Iterator

from balancers import Balancer, HAProxy, Nginx, program, settle
from cluster import Cluster, programs
from instances import Instance, capped
from place import Failure, Place, eventually
from trial import Row, Setup, percentile, timed

INSTANCES = 3
RATE, CONNECTIONS = 400, 24
# nginx drains an instance by a reload, which ends idle connections of clients too, even as they send.
WAYS: dict[type[Balancer], tuple[str, ...]] = {
    HAProxy: ("restarted", "killed (kill -9)", "drained and restarted"), Nginx: ("restarted", "killed (kill -9)")}
EXCHANGED = "upgraded, and put back"


class Fleet:
    """Three instances and a proxy before them."""

    def __init__(self, setup: Setup, place: Place, kind: type[Balancer]) -> None:
        capped(place, 1)
        self._place, self._versions = place, {os.path.abspath(setup.binary), setup.older}
        self.instances = [Instance(place, number, "--trusted-proxy", "127.0.0.1") for number in range(INSTANCES)]
        self.balancer = kind(place, [instance.port for instance in self.instances])

    def restart(self, index: int) -> list[str]:
        """What systemd does: SIGTERM, and a new start once it has ended."""
        code = self.instances[index].service.stop()
        self._start(index)
        return [] if code == 0 else [f"an instance ended with {code}"]

    def kill(self, index: int) -> list[str]:
        self.instances[index].service.kill()
        self._start(index)
        return []

    def drained(self, index: int) -> list[str]:
        self.balancer.drain(index)
        problems = self.restart(index)
        self.balancer.admit(index)
        return problems

    def exchange(self, index: int) -> list[str]:
        """Restarts an instance with the other version, while its neighbors still run the first one."""
        ran = os.readlink(f"/proc/{self.instances[index].service.pid}/exe")
        self._place.binary = next(version for version in self._versions if os.path.realpath(version) != ran)
        return self.restart(index)

    def _start(self, index: int) -> None:
        eventually("it is ready", self.instances[index].start().is_ready)

    def stop(self) -> list[str]:
        codes = [instance.service.stop() for instance in self.instances]
        return [] if not any(codes) else [f"instances ended with {codes}"]


def answers(place: Place, counts: dict[str, int]) -> tuple[dict[str, int], str]:
    """What clients got that is not 200, and how long they waited for answers."""
    took = [1000 * answer["took"] for answer in place.answers_since(0)]
    note = f"p50 {percentile(took, 0.5):.1f} ms, p99 {percentile(took, 0.99):.1f} ms, at most {max(took):.0f} ms"
    return {name: count for name, count in counts.items() if name != "200"}, note


def rolled(setup: Setup, place: Place, kind: type[Balancer], how: str, has_keys: bool) -> Row:
    """Restarts each instance under steady load."""
    started = time.monotonic()
    row = Row(f"{kind.name}: instances {how}{'' if has_keys else ', requests without keys'}")
    fleet = Fleet(setup, place, kind)
    with fleet.balancer:
        place.keep_checkpoints()
        ways: dict[str, Callable[[int], list[str]]] = {
            "restarted": fleet.restart, "killed (kill -9)": fleet.kill, "drained and restarted": fleet.drained,
            EXCHANGED: fleet.exchange}
        place.port = fleet.balancer.port
        keys = {} if has_keys else {"without_keys": True}
        load = place.load(connections=CONNECTIONS, rate=RATE, attempts=1, **keys)
        place.wait_for_signatures(100)
        for number in range(INSTANCES * (2 if how == EXCHANGED else setup.choose(1, 20))):
            problems = ways[how](number % INSTANCES)
            settle(fleet.balancer)
            row.attempt(place, *problems)
        counts = load.stop()
    failed, note = answers(place, counts)
    # Without keys, only what is drained is promised.
    if failed and (has_keys or how.startswith("drained")):
        row.problems.append(f"not each request was answered 200: {failed}")
    row.problems += fleet.stop()
    row.conclude(place)
    row.notes += [f"failed: {failed or 'none'}", note]
    return timed(row, started)


def newer_tables(place: Place, cluster: Cluster) -> Row:
    """A later version has changed the tables: an instance of this one refuses as soon as it connects, and says why."""
    started, row = time.monotonic(), Row("another version's tables: refused with both versions")
    service = place.start()
    load = place.load(connections=4, rate=100)
    place.wait_for_signatures()
    name = place.database.rpartition("/")[2]
    cluster.sql("INSERT INTO schema_migrations VALUES (2, 'tables of a later version', 1)", name)
    cluster.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    says = "The database has version 2, and this program knows versions up to 1."
    eventually("it is not ready, and says why", lambda: says.encode() in service.get("/health/ready")[1])
    before = place.answers_end()
    time.sleep(1)
    late = [answer for answer in place.answers_since(before) if answer["status"] == 200]
    row.attempt(place, *[f"{len(late)} signatures by a version that does not know the tables" for _ in late[:1]])
    load.kill()
    row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
    again = place.start(waits=False)
    code = again.process.wait(30)
    is_refused = code == 3 and says in again.log
    row.attempt(place, *([] if is_refused else [f"it started, or ended otherwise: {code} {again.log[-300:]}"]))
    return timed(row, started)


def tried(setup: Setup, cluster: Cluster, trial: Callable[[Place], Row]) -> Row:
    """One trial on a database of its own."""
    name = f"offers-{setup.dice.getrandbits(64):x}"
    cluster.create(name)
    try:
        with Place(setup.binary, cluster.url(name)) as place:
            return trial(place)
    except Failure as failure:
        return Row("fleet", 1, 0, problems=[str(failure)])


def fleet(setup: Setup) -> Iterator[Row]:
    if programs() is None:
        yield Row("rolling restarts", skipped="not tried: postgresql is not installed")
        return
    with Cluster.serving("offers") as cluster:
        for kind, ways in WAYS.items():
            if program(kind.name) is None:
                yield Row(f"rolling restarts behind {kind.name}", skipped="not tried: not installed, nor to be had")
                continue
            for how in ways:
                has_keys = not how.startswith("drained")
                yield tried(setup, cluster, lambda place: rolled(setup, place, kind, how, has_keys))
            if setup.is_long:
                yield tried(setup, cluster, lambda place: rolled(setup, place, kind, "restarted", False))
        if setup.older and program(HAProxy.name):
            older = dataclasses.replace(setup, binary=setup.older)
            yield tried(older, cluster, lambda place: rolled(setup, place, HAProxy, EXCHANGED, True))
        yield tried(setup, cluster, lambda place: newer_tables(place, cluster))
