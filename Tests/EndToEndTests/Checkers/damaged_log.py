# SPDX-License-Identifier: Apache-2.0
"""Changes single bytes of what a database holds of its audit log, and checks that a command refuses each time.

Usage: damaged_log.py DATABASE TABLE COLUMN COUNT COMMAND…

Takes the bytes of all rows of a column one after another and changes COUNT of them, evenly spread, one at a time; each
is put back before the next. A number is changed by one. COMMAND must exit 0 on the database as it is and otherwise with
one of 1, 3 and 4, never by a signal; prints how many changes it refused.
"""
import subprocess
import sys

from common import complain, open_database

path, table, column, count, *command = sys.argv[1:]
problems = []


def verdict():
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def store(row, value):
    database = open_database(path)
    database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
    database.commit()
    database.close()


def positions():
    """Each byte as row, value, and place in it."""
    database = open_database(path)
    rows = database.execute(f"SELECT rowid, {column} FROM {table} ORDER BY rowid").fetchall()
    database.close()
    for row, value in rows:
        for place in range(1 if isinstance(value, int) else len(value)):
            yield row, value, place


def changed(value, place):
    if isinstance(value, int):
        return value + 1
    raw = bytearray(value.encode() if isinstance(value, str) else value)
    raw[place] ^= 1
    return raw.decode() if isinstance(value, str) else bytes(raw)


whole = verdict()
if whole.returncode != 0:
    problems.append(f"refused without any change: {whole.stdout} {whole.stderr}")
places = list(positions())
if not places:
    problems.append(f"{table}.{column} is empty")
refused = 0
step = max(1, len(places) // int(count))
for row, value, place in places[::step]:
    store(row, changed(value, place))
    outcome = verdict()
    store(row, value)
    if outcome.returncode in (1, 3, 4):
        refused += 1
    else:
        problems.append(f"{table} row {row} byte {place}: exit code {outcome.returncode}: {outcome.stdout[:300]}")
if verdict().returncode != 0:
    problems.append("refused when everything was put back")
print(refused)
complain(problems)
