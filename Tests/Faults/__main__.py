# SPDX-License-Identifier: Apache-2.0
"""Tries faults on a running service, and has each followed by a checker that shares no code with it.

Usage: python3 Tests/Faults BINARY [--long] [--only NAME,…] [--database URL] [--older BINARY] [--seed N] [--json FILE]

Prints what was tried, survived and lost; exit code 1 if anything was lost or is not as docs/reliability.md says. It
starts nothing that it does not end, and talks to 127.0.0.0/8 alone. As root it works in a mount name space of its own.
"""
import argparse
import json
import os
import random
import signal
import sys
import time
import traceback

from trial import Row, Setup, Trial
import clock
import connections
import differential
import disk
import encryption
import events
import failover
import fleet
import instances
import kills
import neighbors
import patroni
import postgres
import reloads
import self_test
import starts
import system_calls

TRIALS: dict[str, Trial] = {
    "checker": self_test.checks_of_the_checker,
    "kills": kills.kill_rounds,
    "stops": kills.orderly_ends,
    "events": events.event_kills,
    "calls": system_calls.failing_calls,
    "starts": starts.failing_starts,
    "disk": disk.disk_faults,
    "clock": clock.clock_steps,
    "reloads": reloads.reload_storm,
    "connections": connections.many_connections,
    "neighbors": neighbors.neighbors,
    "postgres": postgres.postgres_faults,
    "instances": instances.several_instances,
    "fleet": fleet.fleet,
    "failover": failover.failovers,
    "encryption": encryption.encrypted,
    "differential": differential.differential,
    "patroni": patroni.automatic_failovers,
}
# Only with --long, or if named.
LONG = {"patroni"}


def in_own_mounts() -> None:
    """Becomes the same program in a mount name space of its own, so that no mount outlives it."""
    if os.geteuid() == 0 and "FAULTS_OWN_MOUNTS" not in os.environ:
        os.environ["FAULTS_OWN_MOUNTS"] = "yes"
        command = ["unshare", "--mount", "--propagation", "private", sys.executable, "-B", *sys.argv]
        os.execvp(command[0], command)


def show(row: Row) -> None:
    figures = row.skipped or f"{row.tried:6} {row.survived:9} {row.lost:5} {row.seconds:7.1f} s"
    print(f"{row.fault:52} {figures}  {'; '.join(row.notes)}", flush=True)
    for problem in row.problems[:5]:
        print(f"    PROBLEM {problem}", flush=True)
    if len(row.problems) > 5:
        print(f"    and {len(row.problems) - 5} more", flush=True)


def run(name: str, trial: Trial, setup: Setup) -> list[Row]:
    rows: list[Row] = []
    print(f"\n{name}", flush=True)
    try:
        for row in trial(setup):
            show(row)
            rows.append(row)
    except Exception:  # What breaks one trial must not keep the others from being tried.
        row = Row(name, 1, 0, problems=[traceback.format_exc()])
        show(row)
        rows.append(row)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="Tests/Faults")
    parser.add_argument("binary")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--database", help="postgres://…, instead of SQLite; it should be empty")
    parser.add_argument("--older", type=os.path.abspath, default="", help="for fleet: an older version, same tables")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    parser.add_argument("--json")
    options = parser.parse_args()
    in_own_mounts()
    # It also cleans up if it is ended early.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started = time.monotonic()
    print(f"seed {options.seed}\n{'':52}  tried  survived  lost", flush=True)
    database = (lambda: options.database) if options.database else None
    rows: list[Row] = []
    names = options.only.split(",") if options.only else [each for each in TRIALS if options.long or each not in LONG]
    for name in names:
        dice = random.Random(f"{options.seed} {name}")
        setup = Setup(options.binary, options.long, database, dice, options.older)
        rows += run(name, TRIALS[name], setup)
    tried, survived, lost = (sum(getattr(row, what) for row in rows) for what in ("tried", "survived", "lost"))
    # Once more at the end, where a long output is read first.
    for row in rows:
        if not row.is_good:
            show(row)
    print(f"\n{'in all':52} {tried:6} {survived:9} {lost:5} {time.monotonic() - started:7.1f} s")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([vars(row) for row in rows], file, indent=1)
    return 0 if all(row.is_good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
