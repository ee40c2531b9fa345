# SPDX-License-Identifier: Apache-2.0
"""Checks that each line of standard input is a record in canonical JSON (RFC 8785), byte for byte.

Usage: offer-signer audit export | canonical_records.py
Prints how many records of each kind there are.
"""
import collections
import json
import sys

from common import canonical, complain, without_repeats

problems = []
kinds = collections.Counter()
last = 0
for number, line in enumerate(sys.stdin.buffer.read().split(b"\n")[:-1]):
    try:
        entry = json.loads(line.decode("utf-8"), object_pairs_hook=without_repeats)
        if canonical(entry).encode() != line:
            problems.append(f"record {number} is not canonical: {line!r}")
        if entry["v"] != 1:
            problems.append(f"record {number} is of version {entry['v']}")
        if entry["t"] < last:
            problems.append(f"record {number} is earlier than the one before it")
        last = entry["t"]
        kinds[entry["ev"]] += 1
    except (ValueError, KeyError) as error:
        problems.append(f"record {number} can't be read: {error!r}: {line[:200]!r}")
if not kinds:
    problems.append("there are no records")
print(json.dumps(kinds))
complain(problems)
