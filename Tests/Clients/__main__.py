# SPDX-License-Identifier: Apache-2.0
"""Generates clients from openapi.yaml, and makes calls with them to a service that runs.

Usage: python3 -B Tests/Clients BINARY

openapi-generator (Python and Go) and openapi-python-client come from PyPI, in .venv; Scripts/api installs them. What was
generated stays in .build/clients until openapi.yaml changes.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from service import Service

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "Tests/Clients"
BIN = ROOT / ".venv/bin"
GO = shutil.which("go") or "/usr/lib/go-1.19/bin/go"


def run(arguments, **options):
    """Runs a program, and shows what it said if it fails."""
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{arguments[0]} failed with {done.returncode}.")
    return done.stdout


def generate(folder):
    """Has both generators write their clients into the folder."""
    quiet = {"apiTests": "false", "modelTests": "false", "apiDocs": "false", "modelDocs": "false"}
    for name, package in (("python", "offer_signer"), ("go", "offersigner")):
        (folder / f"{name}.json").write_text(json.dumps({
            "generatorName": name, "inputSpec": str(ROOT / "openapi.yaml"), "outputDir": str(folder / name),
            "additionalProperties": {"packageName": package, "isGoSubmodule": False}, "globalProperties": quiet,
        }))
    # One start of Java for both.
    said = run([BIN / "openapi-generator-cli", "batch", "--fail-fast", folder / "python.json", folder / "go.json"])
    unread = [line for line in said.splitlines() if "ERROR" in line]
    said = run([BIN / "openapi-python-client", "generate", "--meta", "none", "--path", ROOT / "openapi.yaml",
                "--output-path", folder / "plain/plain_client"], env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"})
    # It leaves out what it can't read, and succeeds.
    unread += [line for line in said.splitlines() if line.startswith("Unable to parse")]
    if unread:
        sys.exit("\n".join(["The generators could not read all of openapi.yaml.", *unread]))


def check_names(folder):
    """Each model has a name of openapi.yaml's own, and none that a generator had to number."""
    names = [path.stem for path in (folder / "python/offer_signer/models").glob("*.py")]
    names += [path.stem for path in (folder / "plain/plain_client/models").glob("*.py")]
    made_up = [name for name in names if name.endswith(("_inner", "_body", "_of", "_not")) or "_type_" in name
               or "200" in name or name.endswith("_item")]
    if made_up or len(names) < 100:
        sys.exit(f"Models without a name of their own, or too few ({len(names)}): {', '.join(sorted(made_up))}")


def clients():
    """Where the clients are; they are generated if openapi.yaml is not that of the last time."""
    description = (ROOT / "openapi.yaml").read_bytes() + pathlib.Path(__file__).read_bytes()
    folder = ROOT / ".build/clients" / hashlib.sha256(description).hexdigest()[:16]
    if not (folder / "complete").exists():
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.mkdir(parents=True)
        generate(folder)
        check_names(folder)
        (folder / "complete").touch()
    return folder


def build_go(folder):
    """A program of its own beside the generated package; neither needs a module from elsewhere."""
    program = folder / "program"
    program.mkdir(exist_ok=True)
    shutil.copy(HERE / "main.go", program)
    (program / "go.mod").write_text(
        "module program\n\ngo 1.19\n\nrequire offersigner v0.0.0\n\nreplace offersigner => ../go\n")
    (folder / "go/go.mod").write_text("module offersigner\n\ngo 1.19\n")
    run([GO, "build", "-o", folder / "calls", "."], cwd=program, env={**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off"})
    return folder / "calls"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = clients()
    go = build_go(folder)
    with tempfile.TemporaryDirectory() as place, Service(ROOT, sys.argv[1], pathlib.Path(place)) as service:
        for name, command in (
            ("openapi-generator, Python", [BIN / "python", "-B", HERE / "with_openapi_generator.py"]),
            ("openapi-python-client", [BIN / "python", "-B", HERE / "with_openapi_python_client.py"]),
            ("openapi-generator, Go", [go]),
        ):
            environment = {**os.environ, "PYTHONPATH": f"{folder / 'python'}:{folder / 'plain'}"}
            said = run([*command, service.url, service.backend, service.auditor], env=environment)
            print(f"{name}: {said.strip()}")


main()
