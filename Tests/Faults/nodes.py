# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL on three nodes that Patroni keeps, with etcd, HAProxy and PgBouncer, on ports of 127.0.0.1.

A node is Patroni and its PostgreSQL in a PID name space of their own, so that both can be killed or stopped as one, and
neither outlives this program.
"""
import contextlib
import http.client
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Any

from cluster import as_user, programs
from place import ENDS_WITH_US, HERE, Failure, eventually, free_port

PATRONI = os.path.join(os.path.dirname(os.path.dirname(HERE)), ".build/patroni/bin/patroni")
USER = "postgres"
# None of these servers runs as root.
AS_POSTGRES = as_user(USER)
IN_OWN_PROCESSES = [*ENDS_WITH_US, "unshare", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"]

# What docs/operations/postgresql.md names, but for the watchdog: this machine may have none.
SETTINGS = {
    "ttl": 20, "loop_wait": 5, "retry_timeout": 5, "maximum_lag_on_failover": 1_048_576,
    "synchronous_mode": True, "synchronous_mode_strict": True,
    "postgresql": {"use_pg_rewind": True, "parameters": {
        "wal_retrieve_retry_interval": "500ms", "synchronous_commit": "on", "max_connections": 60}},
}

HAPROXY = """global
  maxconn 200
defaults
  mode tcp
  timeout connect 2s
  timeout client 30m
  timeout server 30m
  timeout check 2s
listen primary
  bind 127.0.0.1:{port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
"""

PGBOUNCER = """[databases]
offers = host=127.0.0.1 port={server} dbname=offers
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {users}
pool_mode = session
ignore_startup_parameters = extra_float_digits
server_connect_timeout = 5
server_login_retry = 1
query_wait_timeout = 5
"""


def missing() -> list[str]:
    """What is not installed here (`Scripts/setup failover` installs it)."""
    found = {"etcd": shutil.which("etcd"), "haproxy": haproxy(), "pgbouncer": pgbouncer(), "postgresql": programs(),
             "patroni": os.path.exists(PATRONI), "root": os.geteuid() == 0}
    return [name for name, is_there in found.items() if not is_there]


def haproxy() -> str | None:
    return shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin:/usr/bin")


def pgbouncer() -> str | None:
    return shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin:/usr/bin")


def ports(count: int) -> list[int]:
    """Free ones, beyond those that services and other servers get."""
    first = free_port() + 200
    while True:
        found = list(range(first, first + count))
        try:
            with contextlib.ExitStack() as probes:
                for port in found:
                    probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return found
        except OSError:
            first += count


class Node:
    """Patroni and its PostgreSQL. `number` counts from 1."""

    def __init__(self, number: int, folder: str, rest: int, port: int) -> None:
        self.name, self.folder, self.rest, self.port = f"node{number}", folder, rest, port
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self._process = subprocess.Popen(
                [*IN_OWN_PROCESSES, *AS_POSTGRES, PATRONI, os.path.join(self.folder, "patroni.yml")],
                stdout=log, stderr=log, cwd=self.folder)

    def log(self) -> str:
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def _first(self) -> int | None:
        """The process that is 1 in the node; the system ends all others with it."""
        if self._process is None or self._process.poll() is not None:
            return None
        with open(f"/proc/{self._process.pid}/task/{self._process.pid}/children", encoding="ascii") as file:
            children = file.read().split()
        return int(children[0]) if children else None

    def processes(self, program: str | None = None) -> list[int]:
        """All processes of the node, or those of one program."""
        first = self._first()
        if first is None:
            return []
        own, found = os.readlink(f"/proc/{first}/ns/pid"), []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{name}/ns/pid") != own:
                    continue
                with open(f"/proc/{name}/comm", encoding="ascii") as file:
                    if program in (None, file.read().strip()):
                        found.append(int(name))
            except OSError:
                continue
        return sorted(found)

    def send(self, number: int, program: str | None = None) -> None:
        for process in self.processes(program):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def freeze(self) -> None:
        """Twice, for processes that began meanwhile."""
        self.send(signal.SIGSTOP)
        self.send(signal.SIGSTOP)

    def kill(self) -> None:
        first = self._first()
        if first is not None:
            os.kill(first, signal.SIGKILL)
        if self._process is not None:
            self._process.wait(30)

    def ask(self, method: str, path: str, body: Any = None, timeout: float = 2) -> tuple[int, bytes]:
        """Patroni's REST API; status 0 if it gives no answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.rest, timeout=timeout)
        try:
            connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    def is_primary(self) -> bool:
        return self.ask("GET", "/primary", timeout=1)[0] == 200


class Nodes:
    """etcd, three nodes, HAProxy, and PgBouncer in front of HAProxy; `urls` has an address for each way to connect."""

    def __init__(self) -> None:
        self.folder, self.password = tempfile.mkdtemp(prefix="faults-patroni-"), secrets.token_hex(16)
        self._servers: list[subprocess.Popen[bytes]] = []
        self.nodes: list[Node] = []
        shutil.chown(self.folder, USER, USER)
        own = ports(10)
        self._etcd, self._peer, self._haproxy, self._pgbouncer = own[:4]
        try:
            self._start_etcd()
            for number in range(1, 4):
                self.nodes.append(self._node(number, *own[2 + 2 * number:4 + 2 * number]))
            self._start_nodes()
            self._start_proxies()
        except BaseException:
            self.close()
            raise

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _write(self, name: str, text: str) -> str:
        descriptor = os.open(self._path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        shutil.chown(self._path(name), USER, USER)
        return self._path(name)

    def _serve(self, name: str, words: Sequence[str]) -> None:
        with open(self._path(f"{name}.log"), "ab") as log:
            self._servers.append(subprocess.Popen([*AS_POSTGRES, *words], stdout=log, stderr=log, cwd=self.folder))

    def _start_etcd(self) -> None:
        clients, peers = f"http://127.0.0.1:{self._etcd}", f"http://127.0.0.1:{self._peer}"
        self._serve("etcd", [
            "etcd", "--data-dir", self._path("etcd"), "--listen-client-urls", clients, "--advertise-client-urls", clients,
            "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", f"default={peers}"])

    def _node(self, number: int, rest: int, port: int) -> Node:
        node = Node(number, self._path(f"node{number}"), rest, port)
        os.mkdir(node.folder, 0o700)
        shutil.chown(node.folder, USER, USER)
        own, api = f"127.0.0.1:{port}", f"127.0.0.1:{rest}"
        self._write(f"{node.name}/patroni.yml", json.dumps({
            "scope": "offers", "name": node.name, "etcd3": {"host": f"127.0.0.1:{self._etcd}"},
            "restapi": {"listen": api, "connect_address": api}, "watchdog": {"mode": "off"},
            "bootstrap": {"dcs": SETTINGS, "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"]},
            "postgresql": {
                "listen": own, "connect_address": own, "data_dir": f"{node.folder}/data", "bin_dir": programs(),
                "pgpass": f"{node.folder}/pgpass", "parameters": {"unix_socket_directories": ""},
                "authentication": {"superuser": {"username": "postgres", "password": self.password},
                                   "replication": {"username": "replicator", "password": self.password}},
                "pg_hba": ["host all all 127.0.0.1/32 scram-sha-256",
                           "host replication replicator 127.0.0.1/32 scram-sha-256"]}}))
        return node

    def _start_nodes(self) -> None:
        # The first one makes the cluster, so that the others need not wait for each other.
        self.nodes[0].start()
        eventually("a node is the primary", self.nodes[0].is_primary, 90, 0.2)
        for node in self.nodes[1:]:
            node.start()
        self.wait_until_whole()
        self.sql("CREATE DATABASE offers", "postgres")

    def _start_proxies(self) -> None:
        servers = "".join(f"  server {node.name} 127.0.0.1:{node.port} check port {node.rest}\n" for node in self.nodes)
        path = self._write("haproxy.cfg", HAPROXY.format(port=self._haproxy) + servers)
        self._serve("haproxy", [haproxy() or "", "-db", "-f", path])
        users = self._write("users", f'"postgres" "{self.password}"\n')
        path = self._write("pgbouncer.ini", PGBOUNCER.format(server=self._haproxy, port=self._pgbouncer, users=users))
        self._serve("pgbouncer", [pgbouncer() or "", path])
        for way, url in self.urls.items():
            eventually(f"{way} leads to the primary", lambda: self._query("SELECT 1", url) == "1", 30, 0.2)

    def _url(self, hosts: str, database: str = "offers", options: str = "") -> str:
        return f"postgres://postgres:{self.password}@{hosts}/{database}{options}"

    def _hosts(self) -> str:
        return ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    @property
    def urls(self) -> dict[str, str]:
        return {"multi-host address": self._url(self._hosts(), options="?target_session_attrs=read-write"),
                "HAProxy": self._url(f"127.0.0.1:{self._haproxy}"),
                "PgBouncer": self._url(f"127.0.0.1:{self._pgbouncer}")}

    @property
    def direct(self) -> str:
        """For tools that look at the records: past the proxies, and not for long at a node that hangs."""
        return self._url(self._hosts(), options="?target_session_attrs=read-write&connect_timeout=3")

    def _query(self, statement: str, url: str) -> str:
        command = ["psql", "--no-psqlrc", "-At", "-v", "ON_ERROR_STOP=1", "-c", statement, url]
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip()

    def sql(self, statement: str, database: str = "offers") -> str:
        return self._query(statement, self._url(
            self._hosts(), database, "?target_session_attrs=read-write&connect_timeout=3"))

    def primary(self) -> Node | None:
        return next((node for node in self.nodes if node.is_primary()), None)

    def _is_whole(self) -> bool:
        primary = self.primary()
        if primary is None:
            return False
        status, body = primary.ask("GET", "/cluster")
        members = json.loads(body)["members"] if status == 200 else []
        states = sorted((member["role"], member["state"]) for member in members)
        return (states == [("leader", "running"), ("replica", "streaming"), ("sync_standby", "streaming")]
                and len({member.get("timeline") for member in members}) == 1)

    def wait_until_whole(self) -> Node:
        """A primary, a synchronous standby and another one, all on the same timeline; gives the primary."""
        try:
            eventually("all three nodes are well", self._is_whole, 180, 0.3)
        except Failure as failure:
            raise Failure(f"{failure}; " + "; ".join(
                f"{node.name}: {node.ask('GET', '/cluster')[1].decode()} {node.log()[-600:]}" for node in self.nodes)) from None
        primary = self.primary()
        return primary if primary else self.wait_until_whole()

    def close(self) -> None:
        for node in self.nodes:
            node.kill()
        for server in self._servers:
            server.kill()
            server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "Nodes":
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()
