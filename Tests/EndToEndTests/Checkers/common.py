# SPDX-License-Identifier: Apache-2.0
"""What the checkers share; none of it comes from the service."""
import base64
import glob
import hashlib
import json
import re
import sqlite3
import subprocess
import sys

SEPARATOR = "\u2063"


def complain(problems):
    """Ends the checker: with the problems and exit code 1, or with 0 if there are none."""
    for problem in problems[:20]:
        print(problem, file=sys.stderr)
    if len(problems) > 20:
        print(f"and {len(problems) - 20} more", file=sys.stderr)
    sys.exit(1 if problems else 0)


def v1_payload(answer, bundle, product):
    """The text that Apple's original In-App Purchase API has signed, rebuilt from an answer."""
    who = answer.get("appAccountToken", answer.get("applicationUsername", ""))
    fields = [bundle, answer["keyIdentifier"], product, answer["identifier"], who,
              answer["nonce"], str(answer["timestamp"])]
    return SEPARATOR.join(fields).encode()


def digests(answer, bundle, product):
    """The SHA-256 digests that the signatures of an answer are made over, as form and hex."""
    found = []
    if "signature" in answer:
        found.append(("v1", hashlib.sha256(v1_payload(answer, bundle, product)).hexdigest()))
    if "jws" in answer:
        signed = answer["jws"].rsplit(".", 1)[0].encode()
        found.append(("jws", hashlib.sha256(signed).hexdigest()))
    return found


def unpadded(text):
    """Decodes base64url without padding."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def canonical(value):
    """RFC 8785 for the values that records are made of: objects, arrays, strings and whole numbers."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int) and abs(value) < 2 ** 53:
        return str(value)
    raise ValueError(f"a record must not hold {value!r}")


def without_repeats(pairs):
    """For json.loads: refuses an object that names a member twice."""
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"repeated member among {names}")
    return dict(pairs)


class SQLiteDatabase:
    """The service's database, with Python's own SQLite."""
    row_address = "rowid"

    def __init__(self, path):
        self._path = path

    def rows(self, statement):
        """What a statement answers; it is committed."""
        database = sqlite3.connect(f"file:{self._path}?mode=rw", uri=True, timeout=30)
        try:
            with database:
                return database.execute(statement).fetchall()
        finally:
            database.close()

    def literal(self, value):
        return f"x'{value.hex()}'" if isinstance(value, bytes) else text_literal(value)

    def damage(self):
        """What the engine itself finds wrong."""
        found = self.rows("PRAGMA integrity_check")
        return [] if found == [("ok",)] else [f"integrity_check: {found}"]


class PostgreSQLDatabase:
    """The service's database, with psql."""
    row_address = "ctid"

    def __init__(self, url):
        self._url = url

    def rows(self, statement):
        command = [f"{programs()}/psql", "-XqAt", "-F", "\x1f", "-R", "\x1e", "-v", "ON_ERROR_STOP=1", "-c", statement,
                   self._url]
        output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().removesuffix("\n")
        return [tuple(map(self._value, row.split("\x1f"))) for row in output.split("\x1e") if row]

    @staticmethod
    def _value(text):
        if re.fullmatch(r"\\x([0-9a-f]{2})*", text):
            return bytes.fromhex(text[2:])
        return int(text) if re.fullmatch(r"-?[0-9]+", text) else text

    def literal(self, value):
        return rf"'\x{value.hex()}'" if isinstance(value, bytes) else text_literal(value)

    def damage(self):
        return []


def text_literal(value):
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def programs():
    """The folder of PostgreSQL's newest programs."""
    folders = glob.glob("/usr/lib/postgresql/*/bin")
    return max(folders, key=lambda folder: int(folder.split("/")[-2]))


def open_database(location):
    """`sqlite:PATH` or `postgres://…`, as the service has it."""
    if location.startswith("sqlite:"):
        return SQLiteDatabase(location.removeprefix("sqlite:"))
    return PostgreSQLDatabase(location)
