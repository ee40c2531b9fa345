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

location, table, column, count, *command = sys.argv[1:]
database = open_database(location)
problems = []


def verdict():
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def store(row, value):
    """Puts a value into a row; PostgreSQL thereby moves the row, and says where to."""
    address = database.row_address
    moved = database.rows(f"""UPDATE {table} SET {column} = {database.literal(value)}
        WHERE {address} = {database.literal(row)} RETURNING {address}""")
    return moved[0][0]


def positions():
    """Each byte as number of the row, value, and place in it."""
    rows = database.rows(f"SELECT {database.row_address}, {column} FROM {table} ORDER BY 1")
    for number, (_, value) in enumerate(rows):
        for place in range(1 if isinstance(value, int) else len(value)):
            yield number, value, place


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
addresses = [row[0] for row in database.rows(f"SELECT {database.row_address} FROM {table} ORDER BY 1")]
if not places:
    problems.append(f"{table}.{column} is empty")
refused = 0
step = max(1, len(places) // int(count))
for number, value, place in places[::step]:
    addresses[number] = store(addresses[number], changed(value, place))
    outcome = verdict()
    addresses[number] = store(addresses[number], value)
    if outcome.returncode in (1, 3, 4):
        refused += 1
    else:
        problems.append(f"{table} row {number} byte {place}: exit code {outcome.returncode}: {outcome.stdout[:300]}")
if verdict().returncode != 0:
    problems.append("refused when everything was put back")
print(refused)
complain(problems)
