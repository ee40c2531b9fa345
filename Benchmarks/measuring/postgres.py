"""A PostgreSQL of its own for one run, from Debian's packages, in a temporary folder; on loopback only."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from . import processes
from .servers import free_port


def program(name):
    found = shutil.which(name) or next(
        (str(path) for path in sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)), None)
    return found or sys.exit(f"{name} of PostgreSQL is missing; install it with: apt-get install postgresql")


def as_postgres(command):
    """PostgreSQL refuses to run as root."""
    return ["runuser", "-u", "postgres", "--"] + command if os.geteuid() == 0 else command


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()
        subprocess.run(as_postgres([program("initdb"), "-D", f"{folder}/data", "-A", "trust", "-U", "postgres",
                                    "--no-sync", "-E", "UTF8", "--locale=C"]), check=True, stdout=subprocess.DEVNULL)
        # Durable as it is by default: fsync and synchronous_commit stay on.
        options = f"-c listen_addresses=127.0.0.1 -p {self.port} -c unix_socket_directories={folder} -c max_connections=50"
        subprocess.run(as_postgres([program("pg_ctl"), "-D", f"{folder}/data", "-l", f"{folder}/log", "-w",
                                    "-o", options, "start"]), check=True, stdout=subprocess.DEVNULL)
        self.pid = int(pathlib.Path(folder, "data/postmaster.pid").read_text().splitlines()[0])
        self.count = 0

    def new_database(self):
        """The address of an empty database."""
        self.count += 1
        name = f"bench{self.count}"
        self.sql("postgres", f"CREATE DATABASE {name}")
        return f"postgres://postgres@127.0.0.1:{self.port}/{name}"

    def sql(self, database, text):
        return subprocess.run([program("psql"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-qtAX",
                               "-v", "ON_ERROR_STOP=1", "-d", database, "-c", text],
                              check=True, capture_output=True, text=True).stdout

    @property
    def pids(self):
        return processes.tree(self.pid)

    def stop(self):
        subprocess.run(as_postgres([program("pg_ctl"), "-D", f"{self.folder}/data", "-m", "immediate", "stop"]),
                       stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def cluster():
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        running = Cluster(folder)
        try:
            yield running
        finally:
            running.stop()


def use(place, cluster):
    """Moves a place's ledger to PostgreSQL: an empty database with a caller, whose API key is the place's from now on."""
    place.database = cluster.new_database()
    added = subprocess.run([place.binary, "callers", "add", "bench", "--role", "backend", "--database", place.database],
                           check=True, capture_output=True, text=True)
    place.api_key_file.write_text(added.stdout.strip() + "\n")
    place.further_pids = lambda: cluster.pids
