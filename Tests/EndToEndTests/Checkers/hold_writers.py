# SPDX-License-Identifier: Apache-2.0
"""Blocks all other writers to a database until a file is there.

Usage: hold_writers.py DATABASE FILE
Prints “held” once no other process can write.
"""
import os
import sqlite3
import subprocess
import sys
import time

from common import programs

location, release = sys.argv[1:]


def wait():
    print("held", flush=True)
    while not os.path.exists(release):
        time.sleep(0.01)


if location.startswith("sqlite:"):
    database = sqlite3.connect(location.removeprefix("sqlite:"), isolation_level=None, timeout=30)
    database.execute("BEGIN IMMEDIATE")
    wait()
    database.execute("ROLLBACK")
else:
    psql = subprocess.Popen([f"{programs()}/psql", "-XqAt", "-v", "ON_ERROR_STOP=1", location],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    psql.stdin.write("BEGIN;\nLOCK TABLE writer_lock;\nSELECT 'held';\n")
    assert psql.stdout.readline() == "held\n"
    wait()
    psql.communicate("ROLLBACK;\n")
    sys.exit(psql.returncode)
