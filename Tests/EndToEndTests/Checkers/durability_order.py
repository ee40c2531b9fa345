# SPDX-License-Identifier: Apache-2.0
"""Checks in a trace that no signature was sent before its record was on disk.

Usage: durability_order.py TRACE WAL-PATH BUNDLE PRODUCT

TRACE is the output of: strace -f -y -tt -s 1000000 -e trace=pwrite64,write,fdatasync,fsync,sendto,writev,sendmsg.
For each signature of each 200 answer, in the order of the trace: a write to the write-ahead log that holds the
digest that was signed returns; then a sync of that log begins, and returns 0; then the answer begins to be sent.
Prints how many answers were judged.
"""
import collections
import json
import re
import sys

from common import complain, digests

CALL = re.compile(r"(?P<pid>\d+) +\S+ +(?P<name>\w+)\((?P<rest>.*)", re.S)
RESUMED = re.compile(r"(?P<pid>\d+) +\S+ +<\.\.\. (?P<name>\w+) resumed>(?P<rest>.*)", re.S)
RESULT = re.compile(r"\) += (-?\d+)[^=]*$")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
DIGEST = re.compile(r'"digest":"([0-9a-f]{64})"')
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "v": "\v", "f": "\f", "\\": "\\", '"': '"'}
ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-f]{2}|.)")

Event = collections.namedtuple("Event", "kind name text result")


def plain(text):
    """What strace wrote as C strings, put together."""
    def one(match):
        code = match.group(1)
        if code[0].isdigit():
            return chr(int(code, 8))
        return chr(int(code[1:], 16)) if code[0] == "x" and len(code) > 1 else ESCAPES.get(code, code)
    return "".join(ESCAPE.sub(one, part) for part in STRING.findall(text))


def events(lines):
    """Begin and end of each call, in the order in which they happened."""
    open_calls = {}
    for line in lines:
        line = line.rstrip("\n")
        resumed = RESUMED.match(line)
        if resumed:
            name, text = open_calls.pop(resumed["pid"], (resumed["name"], ""))
            yield Event("end", name, text + resumed["rest"], result(resumed["rest"]))
            continue
        call = CALL.match(line)
        if not call:
            continue
        if call["rest"].endswith("<unfinished ...>"):
            open_calls[call["pid"]] = (call["name"], call["rest"])
            yield Event("begin", call["name"], call["rest"], None)
        else:
            yield Event("begin", call["name"], call["rest"], None)
            yield Event("end", call["name"], call["rest"], result(call["rest"]))


def result(text):
    found = RESULT.search(text)
    return int(found.group(1)) if found else None


class Oracle:
    """Knows of each digest whether it was written, and whether that write was synced."""

    def __init__(self, log_path, bundle, product):
        self.log_path, self.bundle, self.product = f"<{log_path}>", bundle, product
        self.written, self.syncing, self.durable = set(), collections.defaultdict(list), set()
        self.problems, self.judged = [], 0

    def see(self, event):
        is_log = self.log_path in event.text.split(",")[0]
        if event.name in ("write", "pwrite64") and is_log:
            if event.kind == "end" and event.result and event.result > 0:
                self.written.update(DIGEST.findall(plain(event.text)))
        elif event.name in ("fsync", "fdatasync") and is_log:
            # What this sync covers is what was written when it began. Only one thread syncs this log.
            if event.kind == "begin":
                self.syncing[self.log_path] = set(self.written)
            elif event.result == 0:
                self.durable |= self.syncing.pop(self.log_path, set())
        elif event.kind == "begin" and "HTTP/1.1 200" in event.text:
            self.judge(plain(event.text))

    def judge(self, text):
        for part in text.split("HTTP/1.1 ")[1:]:
            if not part.startswith("200") or '"grantId"' not in part:
                continue
            answer = json.loads(part.split("\r\n\r\n", 1)[1])
            self.judged += 1
            for form, digest in digests(answer, self.bundle, self.product):
                if digest not in self.durable:
                    state = "only written" if digest in self.written else "not even written"
                    self.problems.append(f"{answer['grantId']} ({form}) was sent while its record was {state}")


oracle = Oracle(*sys.argv[2:])
with open(sys.argv[1], encoding="latin-1") as trace:
    for each in events(trace):
        oracle.see(each)
print(oracle.judged)
complain(oracle.problems)
