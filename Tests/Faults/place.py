# SPDX-License-Identifier: Apache-2.0
"""A folder with the example of `offer-signer demo`, the service on it, clients that ask it, and who checks."""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from checker import Checker

HERE = os.path.dirname(os.path.abspath(__file__))
# The system ends a process started by these words when its parent ends, for whatever reason.
ENDS_WITH_US = ["setpriv", "--pdeathsig", "KILL"]
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


class Failure(Exception):
    """What should have happened and did not."""


def eventually(what: str, condition: Callable[[], Any], seconds: float = 30, pause: float = 0.02) -> Any:
    """Waits until something is true, and gives what made it so."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Failure(f"never came to pass within {seconds:g} s: {what}")
        time.sleep(pause)


def free_port() -> int:
    """A port below those that the system gives to clients, so that none of them takes it while the service is down."""
    for port in range(20000 + os.getpid() % 9000, 32000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise Failure("no port is free")


def in_environment(database: str) -> dict[str, str]:
    """Every user could see a password on the command line, so the service refuses the URL there."""
    return {"OFFER_SIGNER_DATABASE": database} if database else {}


# What `serve` sets for itself.
MEMORY = "glibc.malloc.tcache_count=128:glibc.malloc.mmap_threshold=262144"


class Service:
    """One process of `offer-signer serve`."""

    def __init__(self, command: Sequence[str], port: int, log: str, environment: Mapping[str, str]) -> None:
        self.port, self._log = port, log
        self._log_start = os.path.getsize(log) if os.path.exists(log) else 0
        self.started = time.monotonic()
        with open(log, "ab") as errors:
            self.process = subprocess.Popen(
                [*ENDS_WITH_US, *command], stdout=subprocess.DEVNULL, stderr=errors, stdin=subprocess.DEVNULL,
                # So the service need not start itself again, which faults would be counted for.
                env=dict(os.environ, SWIFT_BACKTRACE="enable=no", GLIBC_TUNABLES=MEMORY, **environment))
        self.pid = self.process.pid

    @property
    def log(self) -> str:
        with open(self._log, encoding="utf-8", errors="replace") as file:
            file.seek(self._log_start)
            return file.read()

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    @property
    def is_listening(self) -> bool:
        return '"message":"listening"' in self.log

    def wait_until_listening(self, seconds: float = 60) -> float:
        """Gives the seconds from its start to its listening."""
        def listens() -> bool:
            if not self.is_alive:
                raise Failure(f"did not start: {self.process.returncode} {self.log[-600:]}")
            return self.is_listening
        eventually("the service listens", listens, seconds, 0.003)
        return time.monotonic() - self.started

    def get(self, path: str, key: str | None = None, timeout: float = 20) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {key}"} if key else {})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def is_ready(self) -> bool:
        try:
            return self.get("/health/ready", timeout=5)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def metric(self, name: str) -> float:
        page = self.get("/metrics")[1].decode()
        found = re.findall(rf"(?m)^offer_signer_{name}(?:{{[^}}]*}})? (\S+)$", page)
        return sum(map(float, found))

    def memory(self) -> int:
        """Resident bytes."""
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def send(self, number: int) -> None:
        if self.is_alive:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        self.send(signal.SIGTERM)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure("did not stop within 30 s") from None


class Load:
    """A process of client.py."""

    def __init__(self, place: "Place", **options: Any) -> None:
        place.loads += 1
        run = f"{os.path.basename(place.folder)}-{place.loads}"
        self._output = place.path(f"load-{place.loads}")
        words = [*ENDS_WITH_US, PYTHON, "-B", os.path.join(HERE, "client.py"), str(place.port),
                 "--api-key", place.path("load-key"), "--answers", place.answers, "--run", run]
        for name, value in options.items():
            words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
        # In a file of its own: asyncio also reports lost connections there that the client no longer waits for.
        with open(self._output, "wb") as output, open(self._output + ".errors", "wb") as errors:
            self._process = subprocess.Popen(words, stdout=output, stderr=errors)

    def stop(self) -> dict[str, int]:
        self._process.terminate()
        return self.finish()

    def finish(self) -> dict[str, int]:
        """The counts, once it has ended by itself."""
        try:
            self._process.wait(120)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with open(self._output, encoding="utf-8") as file:
            text = file.read()
        try:
            counts: dict[str, int] = json.loads(text)
        except ValueError:
            with open(self._output + ".errors", encoding="utf-8") as file:
                text += file.read()
            raise Failure(f"the client failed: {text[-600:]}") from None
        return counts

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class CheckpointKeeper(threading.Thread):
    """Keeps every checkpoint that it sees, served or in the file beside the database."""

    def __init__(self, place: "Place") -> None:
        super().__init__(daemon=True)
        self._place, self._seen, self._ending = place, set[bytes](), threading.Event()

    def run(self) -> None:
        while not self._ending.wait(0.2):
            self.look()

    def look(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._place.port, timeout=3)
        try:
            connection.request("GET", "/audit/checkpoint", headers={
                "Authorization": f"Bearer {self._place.text('auditor-key')}"})
            response = connection.getresponse()
            note = response.read()
            if response.status == 200:
                self._keep(note)
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        try:
            with open(self._place.checkpoint_file, "rb") as file:
                self._keep(file.read())
        except OSError:
            pass

    def _keep(self, note: bytes) -> None:
        if not note or note in self._seen:
            return
        self._seen.add(note)
        path = os.path.join(self._place.checkpoints, f"{len(self._seen):06}")
        with open(path + ".new", "wb") as file:
            file.write(note)
        os.rename(path + ".new", os.path.join(os.path.dirname(path), os.path.basename(path) + ".note"))

    def end(self) -> None:
        self._ending.set()
        self.join()
        self.look()


class Place:
    """Everything that one fault is tried on; removed at the end."""

    def __init__(self, binary: str, database: str | None = None, under: str | None = None) -> None:
        self.binary, self.loads, self.port = os.path.abspath(binary), 0, free_port()
        self.folder = tempfile.mkdtemp(prefix="faults-", dir=under)
        self._tool("demo", self.path("demo"), database="")
        self.database = database or f"sqlite:{self.path('demo/offer-signer.db')}"
        self.answers, self.checkpoints = self.path("answers"), self.path("checkpoints")
        self.checkpoint_file = self.path("demo/log.checkpoint")
        # The offset in the file of answers, and the number of signatures up to there.
        self._counted = (0, 0)
        os.mkdir(self.checkpoints)
        self.edit("offers", "atMost: 10000,", "atMost: 1000000000,")
        # Customers are to reach it.
        self.edit("offers", "atMost: 100,", "atMost: 3,")
        shutil.copy(self.path("demo/public-key.pem"), self.path("demo/ABC123DEFG.pem"))
        try:
            self.add_caller("load", "backend", "--bundle", "com.example.app")
            self.add_caller("auditor", "auditor")
        except Failure:
            shutil.rmtree(self.folder)
            raise
        self.services: list[Service] = []
        self._clients: list[Load] = []
        self._keeper: CheckpointKeeper | None = None
        self.checker = self.fresh_checker()

    def fresh_checker(self, cap: int | None = 3) -> Checker:
        return Checker(self.database, self.answers, self.path("demo"), self.checkpoints, cap)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def text(self, name: str) -> str:
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write(self, name: str, text: str) -> None:
        """Replaces a file of the example in one step, so that the service never reads half of it."""
        path = self.path(f"demo/{name}")
        descriptor = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + ".new", path)

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.text(f"demo/{name}")
        if old not in text:
            raise Failure(f"{name} has no {old!r}")
        self.write(name, text.replace(old, new))

    def _tool(self, *words: str, database: str | None = None, wrapper: Sequence[str] = ()) -> str:
        environment = in_environment(self.database if database is None else database)
        run = subprocess.run([*wrapper, self.binary, *words], capture_output=True, text=True, timeout=120,
                             env=dict(os.environ, **environment))
        if run.returncode:
            raise Failure(f"{' '.join(words)}: {run.returncode} {run.stderr[-600:]}")
        return run.stdout

    def tool(self, *words: str, wrapper: Sequence[str] = ()) -> str:
        """Runs one of the service's commands on the database."""
        return self._tool(*words, wrapper=wrapper)

    def add_caller(self, name: str, role: str, *options: str) -> None:
        key = self._tool("callers", "add", name, "--role", role, *options).strip()
        descriptor = os.open(self.path(f"{name}-key"), os.O_WRONLY | os.O_CREAT, 0o600)
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(key)

    # Running

    def start(self, *options: str, wrapper: Sequence[str] = (), environment: Mapping[str, str] | None = None,
              database: str | None = None, waits: bool = True, clock: str = "warn") -> Service:
        command = [*wrapper, self.binary, "serve", "--keys", self.path("demo/keys"), "--offers",
                   self.path("demo/offers"), "--checkpoint-file", self.checkpoint_file,
                   "--listen", f"127.0.0.1:{self.port}", "--clock-check", clock, *options]
        service = Service(command, self.port, self.path("log"),
                          in_environment(database or self.database) | dict(environment or {}))
        self.services.append(service)
        if waits:
            service.wait_until_listening()
        return service

    def load(self, **options: Any) -> Load:
        client = Load(self, **options)
        self._clients.append(client)
        return client

    def keep_checkpoints(self) -> None:
        self._keeper = CheckpointKeeper(self)
        self._keeper.start()

    def delivered(self) -> int:
        """How many signatures clients have on file."""
        if os.path.exists(self.answers):
            with open(self.answers, "rb") as file:
                file.seek(self._counted[0])
                text = file.read()
            text = text[:text.rfind(b"\n") + 1]
            self._counted = (self._counted[0] + len(text), self._counted[1] + text.count(b'"status": 200'))
        return self._counted[1]

    def answers_end(self) -> int:
        """Where the last answer that is whole on file ends."""
        self.delivered()
        return self._counted[0]

    def answers_since(self, offset: int, end: int | None = None) -> list[dict[str, Any]]:
        with open(self.answers, "rb") as file:
            file.seek(offset)
            text = file.read() if end is None else file.read(end - offset)
        return [json.loads(line) for line in text.split(b"\n")[:-1]]

    def wait_for_signatures(self, count: int = 10, seconds: float = 30) -> None:
        before = self.delivered()
        eventually(f"{count} more signatures are delivered", lambda: self.delivered() >= before + count, seconds)

    def log_of_services(self) -> str:
        return self.text("log") if os.path.exists(self.path("log")) else ""

    def close(self, keeps: bool = False) -> None:
        """Ends what was started here and removes the folder, unless it is worth a look."""
        if self._keeper:
            self._keeper.end()
        for client in self._clients:
            client.kill()
        for service in self.services:
            service.kill()
        if not keeps:
            shutil.rmtree(self.folder, ignore_errors=True)

    def end_checkpoints(self) -> None:
        if self._keeper:
            self._keeper.end()
            self._keeper = None

    def __enter__(self) -> "Place":
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.close(keeps=kind is not None and "FAULTS_KEEP" in os.environ)


