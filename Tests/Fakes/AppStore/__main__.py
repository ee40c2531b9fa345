# SPDX-License-Identifier: Apache-2.0
"""Runs the fake App Store; README.md says how to use it.

Usage: python3 -B Tests/Fakes/AppStore [--folder FOLDER] [--control-port PORT]
"""
import argparse
import asyncio
import shutil
import sys
import tempfile
import threading

import jws
from control import Control, handle_line
from control_http import control_responder
from fake import FakeAppStore
from server import Connections, Listener


def main():
    arguments = parse_arguments()
    folder = arguments.folder or tempfile.mkdtemp(prefix="fake-app-store-")
    try:
        asyncio.run(run(folder, arguments.control_port))
    except KeyboardInterrupt:
        pass
    finally:
        if not arguments.folder:
            shutil.rmtree(folder)


def parse_arguments():
    parser = argparse.ArgumentParser(prog="fake-app-store", description="A fake App Store on 127.0.0.1.")
    parser.add_argument("--folder", help="where the PEM files go; otherwise a new one, removed at the end")
    parser.add_argument("--control-port", type=int, default=0, help="for control calls by HTTP; otherwise any")
    return parser.parse_args()


async def run(folder, control_port):
    """Runs until standard input ends."""
    fake = FakeAppStore(folder)
    fake.start()
    control = Control(fake)
    listener = Listener(control_responder(control), Connections(), lambda environment: None)
    listener.port = control_port
    listener.open()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    say(jws.to_json(fake.description() | {"control": f"http://127.0.0.1:{listener.port}/control/"}))
    reader = threading.Thread(target=obey, args=(loop, control, ended), daemon=True)
    reader.start()
    await ended.wait()


def obey(loop, control, ended):
    """Does what comes by standard input, line after line, in the event loop, and answers each with a line."""

    async def do(line):
        return handle_line(control, line)

    for line in sys.stdin.buffer:
        say(asyncio.run_coroutine_threadsafe(do(line), loop).result())
    loop.call_soon_threadsafe(ended.set)


def say(line):
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


main()
