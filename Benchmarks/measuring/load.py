"""Asks servers for signatures: closed loop with wrk, open loop with our own generator."""
import json
import os
import re
import resource
import subprocess
import sys

from .machine import ROOT

BENCHMARKS = ROOT / "Benchmarks"
# None of our Go programs needs a C compiler.
GO = os.environ | {"CGO_ENABLED": "0"}


def closed_loop(port, api_key, connections, seconds, bodies=None, formats=()):
    """As fast as answers come, each connection one request after the other; times in microseconds.

    With `bodies`, a file with a body in each line, those in turn; else each request is for a new customer.
    """
    script = ["bodies.lua", bodies] if bodies else ["signatures.lua", *formats]
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", BENCHMARKS / script[0],
               f"http://127.0.0.1:{port}", "--", api_key] + script[1:]
    printed = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"(?m)^figures: (.*)$", printed.stdout)
    figures = json.loads(found[1]) if found else {}
    if not found or figures["refused"]:
        sys.exit(f"Some requests were refused, so this measures nothing:\n{printed.stdout}{printed.stderr}")
    figures["rate"] = figures["requests"] / figures["microseconds"] * 1e6
    return figures


def open_loop(port, key_file, rate, seconds, connections=64, warmup=0.5, seed=1):
    """At a fixed rate, whatever the server does; each latency from when its request was due."""
    command = [generator(), "-address", f"127.0.0.1:{port}", "-key", key_file, "-rate", str(rate),
               "-seconds", str(seconds), "-warmup", str(warmup), "-connections", str(connections), "-seed", str(seed)]
    printed = subprocess.run(command, capture_output=True, text=True)
    if printed.returncode:
        sys.exit("The load generator failed: " + printed.stderr)
    return json.loads(printed.stdout)


def generator():
    return build_go("openloop")


def go():
    """Debian has Go where a package of each version puts it."""
    found = subprocess.run(["bash", "-c", "PATH=$PATH:$(echo /usr/lib/go-*/bin | tr ' ' :); command -v go"],
                           capture_output=True, text=True).stdout.strip()
    return found or sys.exit("Go is missing; Scripts/setup bench installs it")


built = {}


def build_go(folder):
    """A Go program of ours, built once for each run."""
    if folder not in built:
        target = ROOT / ".build/benchmarks" / folder.replace("/", "-")
        subprocess.run([go(), "build", "-trimpath", "-o", target, "."], cwd=BENCHMARKS / folder, env=GO, check=True)
        built[folder] = target
    return built[folder]


def build_c(folder):
    """The same for one in C, by the compiler that comes with Swift."""
    if folder not in built:
        target = ROOT / ".build/benchmarks" / folder.replace("/", "-")
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["clang", "-D_GNU_SOURCE", "-std=c17", "-O2", "-Wall", "-Wextra", "-Werror", "-o", target, "main.c",
                        "-lcrypto", "-lsqlite3", "-lpthread"], cwd=BENCHMARKS / folder, check=True)
        built[folder] = target
    return built[folder]


def allow_many_connections():
    """Each connection is a file, here and in the servers, which inherit the limit."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else 65536, hard))
