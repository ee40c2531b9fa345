# SPDX-License-Identifier: Apache-2.0
"""Runs a fake from the command line, until its standard input ends."""
import argparse
import asyncio
import shutil
import sys
import tempfile
import threading

import jws
from control_calls import handle_line
from control_http import control_responder
from prefork import fork_for_each_line
from server import Connections, Listener


def main(name, make_fake, make_control):
    """Runs the fake that `make_fake` makes in a folder, controlled by what `make_control` makes of it."""
    arguments = parse_arguments(name)
    if arguments.prefork:
        fork_for_each_line(lambda folder: asyncio.run(run(make_fake(folder), make_control, 0)))
        return
    folder = arguments.folder or tempfile.mkdtemp(prefix=f"{name}-")
    try:
        asyncio.run(run(make_fake(folder), make_control, arguments.control_port))
    except KeyboardInterrupt:
        pass
    finally:
        if not arguments.folder:
            shutil.rmtree(folder)


def parse_arguments(name):
    parser = argparse.ArgumentParser(prog=name, description=f"A {name.replace('-', ' ')} on 127.0.0.1.")
    parser.add_argument("--folder", help="where the files go; otherwise a new one, removed at the end")
    parser.add_argument("--control-port", type=int, default=0, help="for control calls by HTTP; otherwise any")
    parser.add_argument("--prefork", action="store_true", help="start a fake for each folder that a line names")
    return parser.parse_args()


async def run(fake, make_control, control_port):
    """Runs until standard input ends."""
    fake.start()
    control = make_control(fake)
    listener = Listener(control_responder(control), Connections(), lambda environment: None)
    listener.port = control_port
    listener.open()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    say(jws.to_json(fake.description() | {"control": f"http://127.0.0.1:{listener.port}/control/"}))
    reader = threading.Thread(target=run_commands, args=(loop, control, ended), daemon=True)
    reader.start()
    await ended.wait()


def run_commands(loop, control, ended):
    """Runs each line of standard input as a command, in the event loop, and answers it with a line."""

    async def do(line):
        return handle_line(control, line)

    for line in sys.stdin.buffer:
        say(asyncio.run_coroutine_threadsafe(do(line), loop).result())
    loop.call_soon_threadsafe(ended.set)


def say(line):
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()
