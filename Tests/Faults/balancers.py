# SPDX-License-Identifier: Apache-2.0
"""HAProxy and nginx with the configuration of docs/operations/fleet.md, on ports of their own."""
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Sequence

from place import ENDS_WITH_US, HERE, Failure, Place, eventually, free_port

ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(ROOT, "docs/operations/fleet.md")
# What a program of Debian's is unpacked from where it is not installed.
PACKAGES = {"haproxy": ["haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"], "nginx": ["nginx"]}


def block(language: str) -> str:
    """The only block of the page in that language."""
    with open(PAGE, encoding="utf-8") as file:
        found: list[str] = re.findall(rf"^```{language}\n(.*?)^```", file.read(), re.S | re.M)
    if len(found) != 1:
        raise Failure(f"the page has {len(found)} blocks for {language}, and not 1")
    return found[0]


def replaced(pattern: str, new: str, text: str, count: int = 1) -> str:
    """That many places changed, or a failure: a page that says something else is not what is tried."""
    changed, places = re.subn(pattern, new, text, flags=re.M)
    if places != count:
        raise Failure(f"the page has {places} places like {pattern}, and not {count}")
    return changed


def program(name: str) -> str | None:
    """The path of Debian's program; nothing where there is none, and none to be had."""
    words = [os.path.join(ROOT, "Scripts/debian-program"), name, *PACKAGES[name]]
    run = subprocess.run(words, capture_output=True, text=True, timeout=300)
    return run.stdout.strip() if run.returncode == 0 else None


class Balancer:
    """A proxy before some instances, as the page has it but for addresses, ports and TLS."""

    name = ""
    # How long an instance that is ready again may have to wait for requests, in seconds.
    settling = 0.0

    def __init__(self, place: Place, ports: Sequence[int]) -> None:
        self.folder, self.ports, self.port = place.path(self.name), list(ports), free_port()
        os.mkdir(self.folder)
        self._path = program(self.name) or ""
        self.down: set[int] = set()
        self.process: subprocess.Popen[bytes] | None = None

    def _addresses(self, text: str) -> str:
        """The instances' ports in the place of the page's addresses."""
        for index, port in enumerate(self.ports):
            text = replaced(rf"10\.0\.0\.{11 + index}:8080\b", f"127.0.0.1:{port}", text)
        return text

    def write(self) -> None:
        """Writes the configuration."""
        raise NotImplementedError

    def drain(self, index: int) -> None:
        """Sends an instance nothing more, and returns once it has no request."""
        raise NotImplementedError

    def admit(self, index: int) -> None:
        """Sends it requests again."""
        raise NotImplementedError

    def run(self, *words: str) -> None:
        # Unpacked, its libraries are beside it.
        libraries = os.path.join(os.path.dirname(os.path.dirname(self._path)), "lib", f"{os.uname().machine}-linux-gnu")
        environment = dict(os.environ, LD_LIBRARY_PATH=libraries) if ".build/" in self._path else dict(os.environ)
        with open(os.path.join(self.folder, "output"), "ab") as output:
            self.process = subprocess.Popen([*ENDS_WITH_US, self._path, *words], stdout=output, stderr=output,
                                            stdin=subprocess.DEVNULL, env=environment)
        eventually(f"{self.name} listens", self._listens, 20)

    def _listens(self) -> bool:
        if self.process is None or self.process.poll() is not None:
            raise Failure(f"{self.name} ended: {self.output()[-600:]}")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def output(self) -> str:
        with open(os.path.join(self.folder, "output"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __enter__(self) -> "Balancer":
        self.write()
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()


class HAProxy(Balancer):
    name = "haproxy"
    # One check each second; one is enough.
    settling = 2.0

    def _command(self, text: str) -> str:
        """Sends a command to the socket that Debian's configuration has too."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(os.path.join(self.folder, "admin.sock"))
            connection.sendall(text.encode() + b"\n")
            answer = b""
            while part := connection.recv(65536):
                answer += part
        return answer.decode()

    def _servers(self) -> list[dict[str, str]]:
        head, *lines = self._command("show stat").lstrip("# ").strip().splitlines()
        rows = [dict(zip(head.split(","), line.split(","))) for line in lines]
        return [row for row in rows if row["pxname"] == "offer_signer" and row["svname"] not in ("FRONTEND", "BACKEND")]

    def _used(self) -> dict[str, str]:
        """How many connections to each instance are in use."""
        head, *lines = self._command("show servers conn offer_signer").lstrip("# ").strip().splitlines()
        rows = [dict(zip(head.split(), line.split())) for line in lines]
        return {row["bkname/svname"].partition("/")[2]: row["used_cur"] for row in rows}

    def write(self) -> None:
        text = self._addresses(block("haproxy"))
        text = replaced(r"bind :443 ssl crt \S+$", f"bind 127.0.0.1:{self.port}", text)
        path = os.path.join(self.folder, "haproxy.cfg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"global\n    stats socket {self.folder}/admin.sock mode 600 level admin\n\n{text}")
        self.run("-db", "-f", path)
        # It takes its place only once all else listens.
        eventually("HAProxy takes commands", lambda: os.path.exists(os.path.join(self.folder, "admin.sock")))
        eventually("HAProxy finds all instances ready", lambda: all(
            row["status"] == "UP" and row["check_status"] == "L7OK" for row in self._servers()))

    def drain(self, index: int) -> None:
        name = self._servers()[index]["svname"]
        self._command(f"set server offer_signer/{name} state drain")
        eventually("the instance has no request", lambda: self._used()[name] == "0")

    def admit(self, index: int) -> None:
        self._command(f"set server offer_signer/{self._servers()[index]['svname']} state ready")
        eventually("HAProxy finds it ready", lambda: self._servers()[index]["status"] == "UP")


class Nginx(Balancer):
    name = "nginx"
    # As long as it avoids an address that has failed.
    settling = 1.0

    def write(self) -> None:
        self._write()
        # The compiled-in log is not ours to write to; it is named again for what happens before the file is read.
        self.run("-c", f"{self.folder}/nginx.conf", "-e", f"{self.folder}/output")

    def _write(self) -> None:
        text = self._addresses(block("nginx"))
        for index in self.down:
            text = replaced(rf"(server 127\.0\.0\.1:{self.ports[index]}\b)", r"\1 down", text)
        text = replaced("listen 443 ssl;", f"listen 127.0.0.1:{self.port};", text)
        text = replaced(r" *ssl_certificate(_key)? [^;]+;\n", "", text, 2)
        temporary = "\n".join(f"{name}_temp_path {self.folder}/{name};"
                              for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        user = "user root;\n" if os.geteuid() == 0 else ""
        with open(os.path.join(self.folder, "nginx.conf"), "w", encoding="utf-8") as file:
            file.write(f"{user}daemon off;\nworker_processes 2;\npid {self.folder}/nginx.pid;\n"
                       f"error_log {self.folder}/output;\nevents {{}}\n"
                       f"http {{\naccess_log off;\n{temporary}\n{text}}}\n")

    def _workers(self) -> set[int]:
        assert self.process is not None
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            return set(map(int, file.read().split()))

    def _reload(self) -> None:
        """Returns once the processes with the old configuration have answered what they had."""
        assert self.process is not None
        old = self._workers()
        self._write()
        self.process.send_signal(signal.SIGHUP)
        eventually("nginx has ended its old processes", lambda: not old & self._workers(), 60)

    def drain(self, index: int) -> None:
        self.down.add(index)
        self._reload()

    def admit(self, index: int) -> None:
        self.down.discard(index)
        self._reload()


def settle(balancer: Balancer) -> None:
    """The pause that the page asks for before the next instance."""
    time.sleep(balancer.settling)
