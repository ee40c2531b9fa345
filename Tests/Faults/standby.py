# SPDX-License-Identifier: Apache-2.0
"""Two PostgreSQL servers, one a streaming standby of the other, with addresses that stay when they change roles."""
import time

from cluster import Cluster
from place import Place, eventually, free_port


class Pair:
    """A primary and its standby; `url` names both, and a client finds the one that takes writes."""

    def __init__(self, is_synchronous: bool = True) -> None:
        # Beyond those that services get.
        first = free_port() + 100
        self._ports = (first, first + 1)
        self._is_synchronous = is_synchronous
        self.primary = Cluster.serving("offers", first)
        self._all = [self.primary]
        try:
            self.standby = self._follower(first + 1)
        except BaseException:
            self.close()
            raise

    def _follower(self, port: int) -> Cluster:
        standby = Cluster(self.primary, port)
        self._all.append(standby)
        standby.start()
        eventually("the standby follows", lambda: self._standby_is("state", "streaming"))
        if self._is_synchronous:
            # Once the copy is made: it would otherwise wait for a standby of its own when it is promoted.
            self.primary.set("synchronous_standby_names", "*")
            eventually("each commit waits for the standby", lambda: self._standby_is("sync_state", "sync"))
        return standby

    def _standby_is(self, column: str, value: str) -> bool:
        return self.primary.sql(f"SELECT {column} FROM pg_stat_replication WHERE state = 'streaming'") == value

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{port}" for port in self._ports)
        return f"postgres://postgres:{self.primary.password}@{hosts}/offers?target_session_attrs=read-write"

    def cut_off_standby(self) -> None:
        """The standby gets nothing more, though both servers run."""
        self.standby.set("primary_conninfo", "")
        followers = "SELECT count(*) FROM pg_stat_replication"
        eventually("the standby gets nothing", lambda: self.primary.sql(followers) == "0")

    def promote(self) -> Cluster:
        """Makes the standby the primary, and gives what was the primary."""
        self.standby.promote()
        old, self.primary = self.primary, self.standby
        return old

    def replace(self, old: Cluster) -> None:
        """Removes the old primary, and starts a new standby at its address."""
        old.close()
        self._all.remove(old)
        self.standby = self._follower(old.port)

    def close(self) -> None:
        for server in self._all:
            server.close()


class Watch:
    """Holds that nothing is signed from now on, in a time in which nothing can be recorded."""

    def __init__(self, place: Place) -> None:
        self._place, self._offset, self._since = place, place.answers_end(), time.time()

    def problems(self) -> list[str]:
        """What is wrong: signatures for requests that were sent since then."""
        until = time.time()
        late = [answer["sent"] - self._since for answer in self._place.answers_since(self._offset)
                if answer["status"] == 200 and self._since < answer["sent"] < until]
        return [f"{len(late)} signatures meanwhile, for requests from {late[0]:.3f} s on"] if late else []

    def refusals(self) -> int:
        """How many requests got 503 because the service cannot record anything."""
        return sum(answer["status"] == 503 and answer["problem"] == "/problems/audit-unavailable"
                   for answer in self._place.answers_since(self._offset))
