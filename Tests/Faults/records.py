# SPDX-License-Identifier: Apache-2.0
"""Reads the service's database with tools that it does not use: Python's sqlite3, or psql."""
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


GRANTS = "SELECT grant_id FROM grants UNION SELECT grant_id FROM new_grants"
COUNTED = "SELECT coalesce(sum(granted), 0) FROM grants_per_day"
NEWEST = "SELECT grant_id, offer_key, place / 256 FROM new_grants ORDER BY place DESC LIMIT 1"
CUSTOMERS = """WITH carried_over AS (SELECT subject FROM grants WHERE grant_id = :grant),
    all_of_them AS (SELECT subject FROM carried_over UNION SELECT subject FROM new_grants WHERE grant_id = :grant)
    SELECT (SELECT count(*) FROM all_of_them), (SELECT count(*) FROM carried_over)"""
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

    def spread_grant(self, customers: int) -> str:
        """Gives the newest grant to so many more customers, who never ask, so that there is much to carry over.

        Ledger and log still have the same grants. Gives its id, in hexadecimal.
        """
        database = self._open()
        try:
            grant, offer, entry = database.execute(NEWEST).fetchone()
            # Behind the rows that the entries have already, of which each has room for 128 more.
            assert customers <= 128 * entry, f"{entry} entries are too few"
            rows = (((number % entry) * 256 + 128 + number // entry, os.urandom(16), offer, grant)
                    for number in range(customers))
            with database:
                database.executemany(
                    "INSERT INTO new_grants (place, subject, offer_key, grant_id) VALUES (?, ?, ?, ?)", rows)
        finally:
            database.close()
        return bytes(grant).hex()

    def customers(self, grant: str) -> tuple[int, int]:
        """How many customers have a grant, and how many of them in the table that it is carried over to."""
        database = self._open()
        try:
            all_of_them, carried_over = database.execute(CUSTOMERS, {"grant": bytes.fromhex(grant)}).fetchone()
            return all_of_them, carried_over
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
