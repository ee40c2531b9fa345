# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of our own, from Debian's packages, on a port of 127.0.0.1 and in a folder that goes with it."""
import glob
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence

from place import ENDS_WITH_US, Failure, eventually, free_port


def programs() -> str | None:
    """The folder with the newest `initdb` and `postgres`."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"), key=lambda path: int(path.split("/")[4]))
    return os.path.dirname(found[-1]) if found else None


def as_user(name: str) -> list[str]:
    """Runs what follows as another user, and has the system end it with us: in one, since a new user undoes the latter."""
    return ["setpriv", f"--reuid={name}", f"--regid={name}", "--init-groups", "--pdeathsig", "KILL"]


class Cluster:
    """One server; as root it runs as the user `postgres`, since it refuses to run as root.

    With a `source` it is a standby, which follows that server's log from a copy of its files.
    """

    def __init__(self, source: "Cluster | None" = None, port: int | None = None) -> None:
        self._programs = programs() or ""
        self.folder, self.port = tempfile.mkdtemp(prefix="faults-pg-"), port or free_port() + 1
        self._password = source.password if source else secrets.token_hex(16)
        self._user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        self.process: subprocess.Popen[bytes] | None = None
        password = os.path.join(self.folder, "password")
        with open(password, "w", encoding="ascii") as file:
            file.write(self._password)
        if os.geteuid() == 0:
            for path in (self.folder, password):
                shutil.chown(path, self._user, self._user)
        if source:
            self._run(["pg_basebackup", "-D", self._data, "-R", "--checkpoint=fast", "--no-sync",
                       "-d", source.url()])
        else:
            self._run(["initdb", "-D", self._data, "-U", "postgres", f"--pwfile={password}", "-A", "scram-sha-256",
                       "-E", "UTF8", "--locale=C", "--no-sync"])

    @classmethod
    def serving(cls, database: str, port: int | None = None) -> "Cluster":
        """A server that runs and has an empty database."""
        cluster = cls(port=port)
        try:
            cluster.start()
            cluster.create(database)
        except BaseException:
            cluster.close()
            raise
        return cluster

    @property
    def password(self) -> str:
        return self._password

    @property
    def _data(self) -> str:
        return os.path.join(self.folder, "data")

    def _command(self, words: Sequence[str]) -> list[str]:
        own = as_user(self._user) if os.geteuid() == 0 else ENDS_WITH_US
        return [*own, os.path.join(self._programs, words[0]), *words[1:]]

    def _run(self, words: Sequence[str]) -> None:
        run = subprocess.run(self._command(words), capture_output=True, text=True, cwd=self.folder, timeout=120)
        if run.returncode:
            raise Failure(f"{words[0]}: {run.stderr[-600:]}")

    def start(self) -> None:
        """Durable as it is delivered: fsync and synchronous_commit are on."""
        self._launch()
        eventually("PostgreSQL accepts connections", self._is_up, 60, 0.05)

    def _launch(self) -> None:
        words = ["postgres", "-D", self._data, "-p", str(self.port), "-h", "127.0.0.1", "-k", "",
                 "-c", "max_connections=60"]
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(self._command(words), stdout=log, stderr=log, cwd=self.folder)

    def _is_up(self) -> bool:
        if self.process is not None and self.process.poll() is not None:
            end = self.log()[-600:]
            # After a kill, the server's processes of before take a moment to notice and end.
            if "pre-existing shared memory block" not in end:
                raise Failure(f"PostgreSQL ended: {end}")
            time.sleep(0.5)
            self._launch()
        return self.sql("SELECT 1", fails=True) == "1"

    def log(self) -> str:
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def url(self, database: str = "postgres", port: int | None = None) -> str:
        return f"postgres://postgres:{self._password}@127.0.0.1:{port or self.port}/{database}"

    def sql(self, statement: str, database: str = "postgres", fails: bool = False) -> str:
        command = ["psql", "--no-psqlrc", "-At", "-v", "ON_ERROR_STOP=1", "-c", statement, self.url(database)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if run.returncode and not fails:
            raise Failure(f"psql: {run.stderr[-300:]}")
        return run.stdout.strip()

    def create(self, database: str) -> None:
        self.sql(f'CREATE DATABASE "{database}"')

    def set(self, name: str, value: str) -> None:
        """Changes a setting of the running server; that is not in copies that were made before."""
        self.sql(f"ALTER SYSTEM SET {name} = '{value}'")
        self.sql("SELECT pg_reload_conf()")

    def put(self, name: str, content: bytes) -> str:
        """Writes a file of the server's own, beside its data; gives the path."""
        path = os.path.join(self._data, name)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, 0o600)
        if os.geteuid() == 0:
            shutil.chown(path, self._user, self._user)
        return path

    def promote(self) -> None:
        """Makes a standby a server that takes writes; returns once it does."""
        self.sql("SELECT pg_promote(true, 60)")

    def stop(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)

    def _all(self) -> list[int]:
        """The server and the processes that it has started."""
        if self.process is None:
            return []
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            return [self.process.pid, *map(int, file.read().split())]

    def signal_all(self, number: int) -> None:
        for process in self._all():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def kill(self) -> None:
        """As if the machine had lost its power, but for what the system's cache keeps."""
        if self.process is not None and self.process.poll() is None:
            self.signal_all(signal.SIGKILL)
            self.process.wait()
        for name in ("postmaster.pid",):
            path = os.path.join(self._data, name)
            if os.path.exists(path):
                os.remove(path)

    def restart(self, fast: bool = True) -> None:
        """In order: with open connections ended (fast), or after a crash of a sort (immediate)."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT if fast else signal.SIGQUIT)
        self.process.wait(60)
        self.start()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()
