# SPDX-License-Identifier: Apache-2.0
"""Reads the service's database with tools that it does not use: Python's sqlite3, or psql."""
import bisect
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from typing import Protocol


class Records(Protocol):
    """A database, as the checker sees it."""

    def entries(self, first: int) -> Iterator[tuple[int, bytes]]:
        """The entries of the log from an index on, in order."""

    def ledger(self) -> tuple[set[str], int]:
        """The grants of the ledger, in hexadecimal, and how many its counts of days say that there are."""

    def damage(self) -> str | None:
        """What the engine itself finds wrong."""


GRANTS = "SELECT grant_id FROM grants UNION SELECT grant_id FROM grants_by_time"
COUNTED = "SELECT coalesce(sum(granted), 0) FROM grants_per_day"
NEWEST = "SELECT grant_id, offer_key, place / 256 FROM grants_by_time ORDER BY place DESC LIMIT 1"
CUSTOMERS = """SELECT count(*) FROM (SELECT subject FROM grants WHERE grant_id = :grant
    UNION SELECT subject FROM grants_by_time WHERE grant_id = :grant)"""
WITHOUT_COPIES = """SELECT place / 256, subject FROM grants_by_time WHERE NOT EXISTS (
    SELECT 1 FROM grants WHERE grants.subject = grants_by_time.subject AND grants.grant_id = grants_by_time.grant_id)"""
# Behind the entries that have been given further rows already, whether their offsets were compacted since or not.
UNSPREAD = """SELECT max(coalesce((SELECT max(place) / 256 + 1 FROM grants_by_time WHERE place % 256 >= 128), 0), before_entry)
    FROM grant_offsets_state"""
BEFORE = "SELECT before_entry FROM grant_offsets_state"
# One snapshot: between two, a running service would grant more.
BOTH = f"SELECT grant_id, 0 FROM ({GRANTS}) AS g UNION ALL SELECT NULL, ({COUNTED})"


class SQLiteRecords:
    def __init__(self, path: str) -> None:
        self._path = path

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{self._path}?mode=rw", uri=True, timeout=60)

    def entries(self, first: int) -> Iterator[tuple[int, bytes]]:
        database = self._open()
        try:
            rows = database.execute(
                "SELECT entry_index, entry FROM audit_entries WHERE entry_index >= ? ORDER BY entry_index", (first,))
            for index, entry in rows:
                yield index, bytes(entry)
        finally:
            database.close()

    def ledger(self) -> tuple[set[str], int]:
        database = self._open()
        try:
            rows = database.execute(BOTH).fetchall()
        finally:
            database.close()
        return {bytes(grant).hex() for grant, _ in rows if grant is not None}, rows[-1][1]

    def damage(self) -> str | None:
        database = self._open()
        try:
            found = database.execute("PRAGMA integrity_check").fetchall()
        finally:
            database.close()
        return None if found == [("ok",)] else f"integrity_check: {found}"

    def spread_grant(self, customers: int) -> str | None:
        """Gives the newest grant to more customers, who never ask, so that there is much to compact.

        Only a service that starts later knows of them. Ledger and log still have the same grants. Gives its id, in
        hexadecimal; none while there are too few entries whose offsets were not compacted.
        """
        database = self._open()
        try:
            grant, offer, newest = database.execute(NEWEST).fetchone()
            first = database.execute(UNSPREAD).fetchone()[0]
            entries = newest - first
            # Behind the rows that the entries have already; each entry has room for 128 more.
            if customers > 128 * entries:
                return None
            rows = (((first + number % entries) * 256 + 128 + number // entries, os.urandom(18), offer, grant)
                    for number in range(customers))
            with database:
                database.executemany(
                    "INSERT INTO grants_by_time (place, subject, offer_key, grant_id) VALUES (?, ?, ?, ?)", rows)
        finally:
            database.close()
        return bytes(grant).hex()

    def customers(self, grant: str) -> int:
        """How many customers have a grant."""
        database = self._open()
        try:
            return database.execute(CUSTOMERS, {"grant": bytes.fromhex(grant)}).fetchone()[0]
        finally:
            database.close()

    def offsets(self) -> tuple[int, int]:
        """How many grants the service finds by their offsets in the database, and how many it would miss.

        Grants of customers with many are in `grants` instead. A block has the offsets of customers from its first prefix,
        24 bits, up to that of the next: for each grant the prefix, and in 40 bits the entry's index plus one.
        """
        database = self._open()
        try:
            blocks = database.execute("SELECT first_prefix, offsets FROM grant_offsets ORDER BY first_prefix").fetchall()
            before = database.execute(BEFORE).fetchone()[0]
            firsts = [first for first, _ in blocks]
            words = [{data[place:place + 8] for place in range(0, len(data), 8)} for _, data in blocks]
            found = missed = 0
            for entry, subject in database.execute(WITHOUT_COPIES):
                block = bisect.bisect_right(firsts, int.from_bytes(subject[:3], "big")) - 1
                is_there = block >= 0 and subject[:3] + (entry + 1).to_bytes(5, "big") in words[block]
                found += is_there
                missed += not is_there and entry < before
            return found, missed
        finally:
            database.close()


class PostgresRecords:
    def __init__(self, url: str) -> None:
        self._url = url

    def _rows(self, query: str) -> Iterator[list[str]]:
        command = ["psql", "--no-psqlrc", "-At", "-F", " ", "-v", "ON_ERROR_STOP=1", "-c", query, self._url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ, LC_ALL="C")) as psql:
            assert psql.stdout is not None
            for line in psql.stdout:
                yield line.rstrip("\n").split(" ")
        if psql.returncode:
            raise OSError(f"psql ended with {psql.returncode}")

    def entries(self, first: int) -> Iterator[tuple[int, bytes]]:
        query = f"""SELECT entry_index, encode(entry, 'hex') FROM audit_entries
            WHERE entry_index >= {int(first)} ORDER BY entry_index"""
        for index, entry in self._rows(query):
            yield int(index), bytes.fromhex(entry)

    def ledger(self) -> tuple[set[str], int]:
        query = BOTH.replace("SELECT grant_id, 0", "SELECT encode(grant_id, 'hex'), 0")
        rows = list(self._rows(query))
        return {grant for grant, _ in rows if grant}, int(rows[-1][1])

    def damage(self) -> str | None:
        return None


def open_records(url: str) -> Records:
    """`sqlite:PATH` or `postgres://…`."""
    return SQLiteRecords(url.removeprefix("sqlite:")) if url.startswith("sqlite:") else PostgresRecords(url)
