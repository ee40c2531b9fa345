# SPDX-License-Identifier: Apache-2.0
"""The service on PostgreSQL: the server is killed, paused, restarted, made read-only, and its connections are cut."""
import signal
import time
from collections.abc import Callable, Iterator

from cluster import Cluster, programs
from place import Failure, Place, Service
from proxy import FaultProxy
from trial import Row, Setup, recovers, timed

Fault = Callable[[], None]


class Bench:
    """A cluster, a proxy in front of it, and a service that goes through the proxy."""

    def __init__(self, setup: Setup) -> None:
        self.cluster = Cluster.serving("offers")
        # The checker does not go through the proxy.
        self.place = Place(setup.binary, self.cluster.url("offers"))
        self.proxy = FaultProxy(self.cluster.port)
        self.through_proxy = self.cluster.url("offers", self.proxy.port)

    def start(self) -> Service:
        return self.place.start(database=self.through_proxy)

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *unused: object) -> None:
        self.place.close()
        self.proxy.close()
        self.cluster.close()


def faults(bench: Bench, setup: Setup) -> dict[str, Fault]:
    cluster, proxy, dice = bench.cluster, bench.proxy, setup.dice

    def killed() -> None:
        cluster.kill()
        cluster.start()

    def paused() -> None:
        cluster.signal_all(signal.SIGSTOP)
        time.sleep(dice.uniform(0.5, 3))
        cluster.signal_all(signal.SIGCONT)

    def held() -> None:
        proxy.hold(True)
        time.sleep(dice.uniform(0.5, 3))
        proxy.hold(False)

    def unreachable() -> None:
        proxy.refuses = True
        proxy.cut()
        time.sleep(dice.uniform(0.5, 2))
        proxy.refuses = False

    def read_only() -> None:
        cluster.sql("ALTER DATABASE offers SET default_transaction_read_only = on")
        proxy.cut()
        time.sleep(1)
        cluster.sql("ALTER DATABASE offers SET default_transaction_read_only = off")
        proxy.cut()

    def terminated() -> None:
        cluster.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'offers'")

    return {
        "server killed (SIGKILL) and started": killed,
        "server restarted, fast": cluster.restart,
        "server restarted, immediate": lambda: cluster.restart(fast=False),
        "server paused (SIGSTOP) for up to 3 s": paused,
        "connections held for up to 3 s": held,
        "connections reset": proxy.cut,
        "connections reset amid a message": lambda: proxy.cut_after(dice.randrange(1, 20_000)),
        "server unreachable for up to 2 s": unreachable,
        "backends terminated": terminated,
        "database read-only for 1 s": read_only,
    }


def server_faults(bench: Bench, setup: Setup) -> Iterator[Row]:
    place = bench.place
    service = bench.start()
    place.keep_checkpoints()
    load = place.load(connections=8, rate=400, patience=30)
    for name, fault in faults(bench, setup).items():
        started, row = time.monotonic(), Row(f"PostgreSQL: {name}")
        for _ in range(setup.choose(3, 50)):
            place.wait_for_signatures()
            fault()
            problems = [] if service.is_alive else [f"the service died: {service.log[-300:]}"]
            if problems:
                service = bench.start()
            row.attempt(place, *problems, *recovers(place))
        yield timed(row, started)
    load.stop()
    last = Row("PostgreSQL: after all of these, from the beginning", 1, 1)
    last.problems += [] if service.stop() == 0 else ["it did not stop in order"]
    last.conclude(place)
    yield last


def service_kills(bench: Bench, setup: Setup) -> Row:
    started, row = time.monotonic(), Row("PostgreSQL: kill -9 of the service under load")
    place = bench.place
    load = place.load(connections=16, rate=600, patience=30)
    service = bench.start()
    for _ in range(setup.choose(50, 1000)):
        time.sleep(setup.dice.uniform(0.02, 0.3))
        service.kill()
        service = bench.start()
        row.attempt(place)
    row.problems += recovers(place)
    load.stop()
    row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
    row.conclude(place)
    return timed(row, started)


def postgres_faults(setup: Setup) -> Iterator[Row]:
    if programs() is None:
        yield Row("PostgreSQL", skipped="not tried: postgresql is not installed")
        return
    try:
        bench = Bench(setup)
    except Failure as failure:
        if "postgres" not in str(failure) or "sqlite:" not in str(failure):
            raise
        yield Row("PostgreSQL", skipped="not tried: this build takes no postgres:// location")
        return
    with bench:
        yield service_kills(bench, setup)
        yield from server_faults(bench, setup)
