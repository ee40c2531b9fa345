# SPDX-License-Identifier: Apache-2.0
"""Keeps every checkpoint of a service that it sees, until a file is there.

Usage: checkpoint_poller.py FOLDER --api-key FILE --history FOLDER

FOLDER/port holds the port, read again whenever a connection fails; FOLDER/stop-polling ends it. Each checkpoint that is
new goes into a file of its own in --history. Prints how many checkpoints it saw, how often it asked, and for how many
seconds at most it knew of an entry that no checkpoint covered while the service was up.
"""
import argparse
import http.client
import json
import os
import re
import time

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--api-key", required=True)
parser.add_argument("--history", required=True)
options = parser.parse_args()
with open(options.api_key, encoding="ascii") as file:
    headers = {"Authorization": f"Bearer {file.read().strip()}"}
os.makedirs(options.history, exist_ok=True)

seen, polls, longest = set(), 0, 0.0
# When a size of the log was first known that no checkpoint covers yet.
uncovered = []


def get(connection, path):
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    if response.status != 200:
        raise ValueError(f"{path}: {response.status}")
    return body


def keep(note):
    text = note.split(b"\n\n")[0]
    if text not in seen:
        seen.add(text)
        with open(os.path.join(options.history, f"{len(seen):08}"), "wb") as file:
            file.write(note)
    return int(text.split(b"\n")[1])


def poll(connection):
    global uncovered, longest
    # From the metrics: asking for the state of the log is itself recorded.
    size = int(float(re.search(rb"(?m)^offer_signer_log_size (\S+)$", get(connection, "/metrics"))[1]))
    known = time.monotonic()
    if not uncovered or uncovered[-1][1] < size:
        uncovered.append((known, size))
    covered = keep(get(connection, "/audit/checkpoint"))
    now = time.monotonic()
    longest = max([longest] + [now - since for since, _ in uncovered])
    uncovered = [(since, size) for since, size in uncovered if size > covered]


connection = None
while not os.path.exists(os.path.join(options.folder, "stop-polling")):
    try:
        if connection is None:
            with open(os.path.join(options.folder, "port"), encoding="ascii") as port:
                connection = http.client.HTTPConnection("127.0.0.1", int(port.read()), timeout=10)
        poll(connection)
        polls += 1
    except (OSError, ValueError, TypeError, http.client.HTTPException):
        # Entries that stayed uncovered because the service was down do not count.
        connection, uncovered = None, []
    time.sleep(0.02)
print(json.dumps({"checkpoints": len(seen), "polls": polls, "longestLagSeconds": round(longest, 3)}))
