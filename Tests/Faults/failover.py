# SPDX-License-Identifier: Apache-2.0
"""The service beside a PostgreSQL primary and its standby: one takes over from the other, rightly or wrongly."""
import json
import shutil
import time
from collections.abc import Callable, Iterator

from cluster import Cluster, programs
from instances import Instance
from place import Failure, Load, Place, Service, eventually, free_port
from records import open_records
from standby import Pair, Watch
from trial import Row, Setup, percentile, recovers, timed

NOT_CONTINUED = "it does not begin with the"


def obstacles(service: Service) -> str:
    """What readiness says that keeps the service from its work; empty where nothing does."""
    status, body = service.get("/health/ready")
    return "" if status == 200 else " ".join(
        f"{one['name']}: {one['detail']}" for one in json.loads(body)["obstacles"])


def says(service: Service, words: str) -> list[str]:
    """Whether readiness and log have those words; what is wrong if not."""
    try:
        eventually(f"readiness says {words!r}", lambda: words in obstacles(service))
        # A thread of its own writes the log, so a line may come after a client can see what it reports.
        eventually(f"the log says {words!r}", lambda: words in service.log)
    except Failure as failure:
        return [f"{failure}; readiness says {obstacles(service)!r}; the log ends with {service.log[-2000:]!r}"]
    return []


def refuses_to_start(place: Place, url: str, words: str) -> list[str]:
    """Whether another service does not start on a database, and says why; what is wrong if not."""
    # Not the port of the one that runs: it would be refused that before it has recorded its start.
    own, place.port = place.port, free_port()
    try:
        service = place.start(database=url, waits=False)
    finally:
        place.port = own
    try:
        eventually("it ends or listens", lambda: not service.is_alive or f'"port":{service.port}' in service.log, 90)
    except Failure as failure:
        return [str(failure)]
    finally:
        is_alive = service.is_alive
        service.kill()
    # All services of the place share the log.
    last_words = [line for line in service.log.splitlines() if line.startswith("offer-signer serve:")]
    if is_alive or not last_words:
        return ["it started"]
    return [] if words in last_words[-1] else [f"instead of {words!r} it said {last_words[-1]}"]


def grants(server: Cluster) -> int:
    return sum(b'"ev":"sign.intent"' in entry for _, entry in open_records(server.url("offers")).entries(0))


def disconnect(server: Cluster) -> None:
    server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'offers'")


def under_load(place: Place, patience: int = 30) -> tuple[Service, Load]:
    """A service that signs all the time, with its checkpoints kept."""
    service = place.start()
    place.keep_checkpoints()
    load = place.load(connections=8, rate=400, patience=patience)
    place.wait_for_signatures(50)
    return service, load


def concluded(row: Row, place: Place, load: Load, *services: Service) -> Row:
    """Ends the load, stops the services, checks everything again, and returns the row."""
    load.stop()
    for service in services:
        row.problems += [] if service.stop() == 0 else ["a service did not stop in order"]
    row.conclude(place)
    return row


def taken_over(setup: Setup, pair: Pair, place: Place) -> Row:
    """Two instances; the primary dies amid their work, and the standby takes over."""
    row = Row("primary killed, synchronous standby promoted")
    away, late = [], []
    instances = [Instance(place, number) for number in range(2)]
    place.keep_checkpoints()
    loads = [instance.load(connections=8, rate=200, patience=30) for instance in instances]
    for _ in range(setup.choose(5, 50)):
        place.wait_for_signatures(30)
        pair.primary.kill()
        killed, watch = time.monotonic(), Watch(place)
        pause = setup.dice.uniform(0, 2)
        time.sleep(pause)
        problems = watch.problems()
        old = pair.promote()
        promoted = time.monotonic()
        problems += recovers(place, 1)
        away.append(time.monotonic() - killed)
        late.append(time.monotonic() - promoted)
        for instance in instances:
            eventually("it is ready again", instance.service.is_ready)
        # A service that tries again soon enough finds the new primary.
        if pause > 0.5 and not watch.refusals():
            problems.append("no caller got an error, although nothing could be recorded")
        pair.replace(old)
        row.attempt(place, *problems)
    row.notes.append(f"signing was away for {percentile(away, 0.5):.1f} s, {max(away):.1f} s at most; after the "
                     f"promotion for {percentile(late, 0.5):.2f} s, {max(late):.2f} s at most")
    for load in loads[1:]:
        load.stop()
    return concluded(row, place, loads[0], *[instance.service for instance in instances])


def begins_again(place: Place, service: Service, problems: list[str]) -> Service:
    """A service that found the log changed stays sealed until it was started on one that is whole, and is unsealed."""
    service.kill()
    service = place.start()
    if "sealed-checkpoint" in obstacles(service):
        place.tool("unseal", "--reason", "the right server is back")
    problems += recovers(place)
    return service


def left_behind(setup: Setup, pair: Pair, place: Place) -> Row:
    """An asynchronous standby is promoted that has not got the last commits: grants would be forgotten."""
    row = Row("asynchronous standby promoted that lacks the last commits")
    service, load = under_load(place)
    pair.cut_off_standby()
    place.wait_for_signatures(200)
    time.sleep(1)
    pair.primary.kill()
    watch = Watch(place)
    old = pair.promote()
    problems = says(service, NOT_CONTINUED)
    time.sleep(3)
    problems += [*watch.problems(), *says(service, "entries are missing")]
    before = grants(pair.primary)
    lacking = place.delivered() - before
    service.kill()
    problems += refuses_to_start(place, pair.primary.url("offers"), "are missing")
    problems += [] if grants(pair.primary) == before else ["something was granted on it"]
    pair.primary.stop()
    old.start()
    service = begins_again(place, service, problems)
    row.attempt(place, *problems)
    row.notes.append(f"{lacking} of the signatures were not on it")
    return concluded(row, place, load, service)


def split(setup: Setup, pair: Pair, place: Place) -> Row:
    """The old primary comes back as a server of its own, is first in the address, and is found again."""
    row = Row("old primary back beside the new one (split brain)")
    service, load = under_load(place)
    earlier = place.path("earlier.checkpoint")
    shutil.copy(place.checkpoint_file, earlier)
    pair.primary.kill()
    old = pair.promote()
    place.wait_for_signatures(200)
    old.start()
    problems = refuses_beside(place, old, earlier)
    old.set("synchronous_standby_names", "")
    before = grants(old)
    disconnect(pair.primary)
    time.sleep(0.5)
    watch = Watch(place)
    problems += says(service, NOT_CONTINUED)
    time.sleep(3)
    problems += watch.problems()
    problems += [] if grants(old) == before else ["something was granted on the old primary"]
    old.stop()
    service = begins_again(place, service, problems)
    row.attempt(place, *problems)
    return concluded(row, place, load, service)


def refuses_beside(place: Place, old: Cluster, checkpoint_file: str) -> list[str]:
    """Another instance, with a checkpoint of before: it sees nothing wrong, and no standby confirms what it records."""
    own = place.checkpoint_file
    place.checkpoint_file = checkpoint_file
    try:
        return refuses_to_start(place, old.url("offers"), "the server does not answer")
    finally:
        place.checkpoint_file = own


def unconfirmed(setup: Setup, pair: Pair, place: Place) -> Row:
    """No standby confirms, which `synchronous_commit = local` must not hide; then the primary is restarted."""
    row = Row("commits that no standby confirms")
    pair.primary.set("synchronous_commit", "local")
    service, load = under_load(place, patience=60)
    pair.cut_off_standby()
    time.sleep(0.3)
    watch = Watch(place)
    problems = says(service, "the server does not answer")
    problems += watch.problems()
    # What was not confirmed is there to be read after this, and is still not to be relied on.
    pair.primary.kill()
    pair.primary.start()
    time.sleep(8)
    problems += watch.problems()
    pair.primary.kill()
    old = pair.promote()
    problems += recovers(place, 20)
    problems += [] if service.is_alive else ["the service died"]
    row.attempt(place, *problems)
    pair.replace(old)
    pair.standby.kill()
    time.sleep(0.3)
    watch = Watch(place)
    time.sleep(3)
    problems = watch.problems()
    pair.primary.set("synchronous_standby_names", "")
    row.attempt(place, *problems, *recovers(place))
    return concluded(row, place, load, service)


def reads_only(setup: Setup, pair: Pair, place: Place) -> Row:
    """The standby alone is left, and answers questions, but is no place to record."""
    row = Row("standby alone, read-only")
    service, load = under_load(place)
    pair.primary.kill()
    watch = Watch(place)
    problems = says(service, "session is read-only")
    time.sleep(2)
    problems += watch.problems()
    # With a checkpoint file of its own: beside the one that runs it would be refused that first.
    own, place.checkpoint_file = place.checkpoint_file, place.path("refused.checkpoint")
    problems += refuses_to_start(place, pair.standby.url("offers"), "the server only reads: it is a standby")
    problems += refuses_to_start(place, pair.url, "session is read-only")
    place.checkpoint_file = own
    pair.primary.start()
    row.attempt(place, *problems, *recovers(place))
    return concluded(row, place, load, service)


TRIALS: dict[Callable[[Setup, Pair, Place], Row], bool] = {
    taken_over: True, left_behind: False, split: True, unconfirmed: True, reads_only: True,
}


def failovers(setup: Setup) -> Iterator[Row]:
    if programs() is None:
        yield Row("failover", skipped="not tried: postgresql is not installed")
        return
    for trial, is_synchronous in TRIALS.items():
        started = time.monotonic()
        pair = Pair(is_synchronous)
        try:
            with Place(setup.binary, pair.url) as place:
                yield timed(trial(setup, pair, place), started)
        except Failure as failure:
            yield timed(Row(trial.__name__, 1, 0, problems=[str(failure)]), started)
        finally:
            pair.close()
