# SPDX-License-Identifier: Apache-2.0
"""A running service with the demo's catalog and callers that have certificates, and processes that end with this one."""
import json
import re
import socket
import subprocess
import sys
import time

from certificates import REGISTERED

# The system ends what is started by these words when this process ends, however that comes.
ENDS_WITH_US = ["setpriv", "--pdeathsig", "KILL"]
# Where the proxies are, and a sender that is none of them.
PROXY, ELSEWHERE = "127.0.0.1", "127.0.0.9"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """A program that listens; ends with the block. Its output is in a file."""

    def __init__(self, command, output, listens, environment=None):
        self.command, self.output, self.listens, self.environment = command, output, listens, environment

    def __enter__(self):
        with self.output.open("w") as output:
            self.process = subprocess.Popen([*ENDS_WITH_US, *map(str, self.command)], stdin=subprocess.DEVNULL,
                                            stdout=output, stderr=output, env=self.environment)
        for _ in range(600):
            if self.process.poll() is None and self.listens():
                return self
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        self.__exit__()
        sys.exit(f"{self.command[0]} does not listen:\n{self.output.read_text()[-2000:]}")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Demo:
    """The demo's files, and a caller for each registered certificate."""

    def __init__(self, binary, place, certificates):
        self.binary, self.place, self.log = binary, place, place / "service.log"
        self.folder = place / "demo"
        self.run("demo", self.folder)
        self.database = ["--database", f"sqlite:{self.folder}/offer-signer.db"]
        for name in REGISTERED:
            self.run("callers", "add", name, "--role", "backend", "--certificate", certificates.pem(name), *self.database)
        self.request = json.loads((self.folder / "request.json").read_text())

    def run(self, *arguments):
        done = subprocess.run([self.binary, *map(str, arguments)], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{arguments}: {done.returncode}\n{done.stderr}")
        return done.stdout

    def serve(self, header, proxies=PROXY):
        """The service, which believes that header of those proxies."""
        return Process([self.binary, "serve", "--keys", self.folder / "keys", "--offers", self.folder / "offers",
                        *self.database, "--listen", "127.0.0.1:0", "--clock-check", "warn", "--trusted-proxy", PROXY,
                        "--client-certificate-proxy", proxies, "--client-certificate-header", header],
                       self.log, self.listening)

    def listening(self):
        return re.search(r'"message":"listening".*"port":(\d+)', self.log.read_text())

    @property
    def port(self):
        return int(self.listening()[1])

    def caller(self, grant):
        """The caller in the audit entries of a grant."""
        lines = self.run("audit", "query", "--event", "sign.intent", "--order", "newest", "--limit", "20", *self.database)
        entries = [json.loads(line)["entry"] for line in lines.splitlines()]
        callers = {entry["caller"] for entry in entries if entry["grant"] == grant}
        return callers.pop() if len(callers) == 1 else f"audit entries of {len(callers)} callers"
