# SPDX-License-Identifier: Apache-2.0
"""What happens to the disturbed service of `differential`, besides the kills while it answers a request."""
import collections
import signal
from collections.abc import Callable

from cluster import Cluster
from differential_sides import Side
from place import Failure, eventually
from records import open_records
from trial import Setup


class Disturbance:
    def __init__(self, side: Side, cluster: Cluster, setup: Setup) -> None:
        self._side, self._place, self._cluster, self._dice = side, side.place, cluster, setup.dice
        self.rotations = self._moves = 0
        self.counts: collections.Counter[str] = collections.Counter()
        self._faults: dict[str, Callable[[], None]] = {
            "kill": self._kill, "restart": self._restart, "rotation": self._rotate, "move": self._move}

    def do(self, fault: str) -> None:
        self.counts[fault] += 1
        self._faults[fault]()

    def _kill(self) -> None:
        self._side.service.kill()
        self._side.start()

    def _stop(self) -> None:
        if self._side.service.stop() != 0:
            raise Failure("it did not stop in order")

    def _restart(self) -> None:
        self._stop()
        self._side.start()

    def _rotate(self) -> None:
        """Lists a new secret before the others, as docs/keys.md says. A reload or a start puts it in force."""
        self.rotations += 1
        newest = self.rotations + 1
        self._place.write(f"customer-ids-{newest}.key", self._dice.randbytes(32).hex() + "\n")
        files = {epoch: f"customer-ids{f'-{epoch}' if epoch > 1 else ''}.key" for epoch in range(newest, 0, -1)}
        listed = ", ".join(f'{{ epoch: "{epoch}", file: "{file}" }}' for epoch, file in files.items())
        line = next(line for line in self._place.text("demo/keys").splitlines() if line.startswith("  customerIds:"))
        self._place.edit("keys", line, f"  customerIds: [{listed}],")
        self._dice.choice([self._reload, self._restart, self._kill])()

    def _reload(self) -> None:
        service = self._side.service
        before = service.metric("reloads_total")
        service.send(signal.SIGHUP)
        eventually("the service reads its files again", lambda: service.metric("reloads_total") > before)

    def _move(self) -> None:
        """Moves the history to PostgreSQL, or back into a new file, and starts the service there."""
        self._stop()
        self._moves += 1
        source, name = self._place.database, f"moved-{self._moves}"
        if source.startswith("sqlite:"):
            self._cluster.create(name)
            target = self._cluster.url(name)
        else:
            target = f"sqlite:{self._place.path(f'demo/{name}.db')}"
        # The command refuses a password in its arguments.
        password = self._cluster.password
        source, address = (location.replace(f":{password}@", "@") for location in (source, target))
        self._place.tool("migrate", "--from", source, "--to", address, wrapper=["env", f"PGPASSWORD={password}"])
        self._place.database = target
        # The checker goes on with the same log where it is now.
        self._place.checker.records = open_records(target)
        self._side.start()

    def notes(self) -> str:
        return ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items()))
