"""The servers that are measured: this service, and what people would run instead."""
import base64
import contextlib
import dataclasses
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from . import processes
from .load import BENCHMARKS, build_c, build_go, go
from .machine import ROOT, output

PATH = "/v1/app-store/promotional-offers/signatures"
CORES = os.cpu_count() or 1
VENV = ROOT / ".build/benchmarks/venv"


class Place:
    """A folder with the key that all contenders sign with, and the API key that all compare; the demo's own."""

    def __init__(self, binary, folder):
        self.binary = binary
        self.folder = pathlib.Path(folder)
        subprocess.run([binary, "demo", folder], check=True, capture_output=True)
        self.key_file = next(self.folder.glob("*.p8"))
        self.public_key = self.folder / "public-key.pem"
        self.api_key_file = self.folder / "api-key"
        offers = self.folder / "offers"
        # A budget that the load can't spend.
        offers.write_text(offers.read_text().replace("atMost: 10000, perDays: 1", "atMost: 1000000000, perDays: 1"))
        self.database = f"sqlite:{self.folder}/offer-signer.db"
        # Whose CPU time counts besides the server's own.
        self.further_pids = lambda: []

    @property
    def api_key(self):
        return self.api_key_file.read_text().strip()


@dataclasses.dataclass
class Contender:
    name: str
    label: str
    # The command for a place and a port, and what it needs in its environment.
    command: object
    environment: object = None
    version: object = None
    # PostgreSQL behind it, for the service alone.
    database: str = "sqlite"


def service_command(place, port, *more):
    # Beside a database file it has its place; a server's instances have one each.
    checkpoint = [] if place.database.startswith("sqlite:") else ["--checkpoint-file", f"{place.folder}/checkpoint-{port}"]
    return [place.binary, "serve", "--keys", f"{place.folder}/keys", "--offers", f"{place.folder}/offers",
            "--database", place.database, "--listen", f"127.0.0.1:{port}",
            "--connections", "8192", "--connections-per-address", "8192", "--clock-check", "warn", *checkpoint, *more]


def node_command(workers):
    return lambda place, port: ["node", BENCHMARKS / "contenders/node/server.js", str(port), place.key_file,
                                place.api_key_file, str(workers)]


def python_command(workers):
    return lambda place, port: [VENV / "bin/uvicorn", "server:app", "--app-dir", BENCHMARKS / "contenders/python",
                                "--host", "127.0.0.1", "--port", str(port), "--workers", str(workers),
                                "--no-access-log", "--log-level", "warning"]


def python_environment(place):
    return {"KEY_FILE": str(place.key_file), "API_KEY_FILE": str(place.api_key_file), "PYTHONDONTWRITEBYTECODE": "1"}


def go_command(place, port):
    return [build_go("contenders/go"), str(port), place.key_file, place.api_key_file]


def bare_command(place, port):
    return [build_c("contenders/bare"), str(port), place.key_file, place.api_key_file, place.folder / "bare.db"]


def python_version():
    packages = ["fastapi", "uvicorn", "app-store-server-library"]
    lines = output(VENV / "bin/pip", "freeze").splitlines()
    found = [line.replace("==", " ") for line in lines if line.split("==")[0] in packages]
    return ", ".join([output(VENV / "bin/python", "--version")] + found)


def contenders(databases=("sqlite",)):
    """All that can be measured, in the order of the tables."""
    engines = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
    services = [
        Contender("service" if database == "sqlite" else f"service-{database}",
                  f"offer-signer, {engines[database]}", service_command, database=database)
        for database in databases
    ]
    cluster = "" if CORES == 1 else f" × {CORES}"
    return services + [
        Contender("go", "Go net/http", go_command, version=lambda: output(go(), "version").split()[2]),
        Contender("node", "Node node:http × 1", node_command(1), version=lambda: "Node " + output("node", "--version")),
        Contender("node-cluster", f"Node cluster{cluster}", node_command(CORES)),
        Contender("python", "FastAPI × 1", python_command(1), python_environment, python_version),
        Contender("python-workers", f"FastAPI{cluster}", python_command(CORES), python_environment),
        Contender("bare", "C, epoll, SQLite: the floor", bare_command),
    ]


def prepare_python():
    """The packages of the Python contender in a folder of their own, as its requirements pin them."""
    requirements = BENCHMARKS / "contenders/python/requirements.txt"
    installed = VENV / "requirements.txt"
    if installed.exists() and installed.read_bytes() == requirements.read_bytes():
        return
    print("Installing the packages of the Python contender …", file=sys.stderr)
    shutil.rmtree(VENV, ignore_errors=True)
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"
    subprocess.run([python, "-m", "venv", VENV], check=True)
    subprocess.run([VENV / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements], check=True)
    shutil.copy(requirements, installed)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A contender that runs."""

    def __init__(self, contender, place, options=()):
        self.place = place
        self.port = free_port()
        self.log = tempfile.TemporaryFile("w+")
        command = contender.command(place, self.port, *options)
        environment = os.environ | (contender.environment(place) if contender.environment else {})
        self.started = time.perf_counter()
        # A session of its own, so that its workers can be ended with it.
        self.process = subprocess.Popen(list(map(str, command)), env=environment, stdout=self.log, stderr=self.log,
                                        start_new_session=True)
        self.answer = self.first_answer()
        self.start_milliseconds = (time.perf_counter() - self.started) * 1000
        # All workers are there before anything is counted.
        time.sleep(0.3)

    @property
    def pids(self):
        return processes.tree(self.process.pid)

    def ask(self):
        body = json.dumps({
            "bundleId": "com.example.app", "productId": "com.example.pro.monthly", "offerId": "winback_3m",
            "appAccountToken": "8A1F6B0E-5C5D-4C8B-9A53-" + os.urandom(6).hex().upper(),
            "facts": {"status": "expired", "expiresAt": "2026-01-01T00:00:00Z"}, "formats": ["v1"],
        })
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("POST", PATH, body, {"Authorization": f"Bearer {self.place.api_key}",
                                                    "Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def first_answer(self):
        """The first signature; how long it took from the start of the process is what is measured."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                status, body = self.ask()
                if status == 200:
                    return json.loads(body)
                if status != 503:
                    break
            except OSError:
                pass
            time.sleep(0.001)
        self.stop()
        self.log.seek(0)
        sys.exit("The server did not answer:\n" + self.log.read()[-4000:])

    def cpu_microseconds(self):
        return sum(processes.cpu_microseconds(self.pids + self.place.further_pids()))

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait()


@contextlib.contextmanager
def running(contender, place, options=()):
    server = Server(contender, place, options)
    try:
        check_signature(server.answer, place)
        yield server
    finally:
        server.stop()


def check_signature(answer, place):
    """Holds the first answer to the key with openssl: the text that Apple asks for, its seven fields and no other."""
    fields = ["com.example.app", answer["keyIdentifier"], "com.example.pro.monthly", answer["identifier"],
              answer["appAccountToken"], answer["nonce"], str(answer["timestamp"])]
    with tempfile.TemporaryDirectory() as folder:
        signature = pathlib.Path(folder, "signature")
        signature.write_bytes(base64.b64decode(answer["signature"], validate=True))
        verified = subprocess.run(
            ["openssl", "dgst", "-sha256", "-verify", place.public_key, "-signature", signature],
            input="\u2063".join(fields).encode(), capture_output=True,
        )
    if verified.returncode or answer["appAccountToken"] != answer["appAccountToken"].lower():
        sys.exit(f"The answer is not signed as it should be: {answer}")


