# SPDX-License-Identifier: Apache-2.0
"""Starts fakes by forking a process that has every module loaded: that takes milliseconds, and a new Python 0.4 s of CPU."""
import os
import signal
import sys
import traceback


def fork_for_each_line(run_in):
    """Starts a fake for each line of standard input, which names its folder, and answers with the process's id.

    A fake reads the folder's `to-child`, and writes `from-child` and `errors`. It runs until its input ends, also when this
    process has ended before.
    """
    # The system forgets each child as soon as it ends.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin.buffer:
        folder = os.fsdecode(line.rstrip(b"\n"))
        child = os.fork()
        if child == 0:
            run_forked(run_in, folder)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


def run_forked(run_in, folder):
    """Runs in the child that a fork made, and never returns."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        for number, (name, flags) in enumerate([("to-child", os.O_RDONLY), ("from-child", append), ("errors", append)]):
            descriptor = os.open(os.path.join(folder, name), flags, 0o600)
            os.dup2(descriptor, number)
            os.close(descriptor)
        # What was read ahead of the other input is not this fake's.
        sys.stdin = os.fdopen(0, closefd=False)
        run_in(folder)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
