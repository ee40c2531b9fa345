# SPDX-License-Identifier: Apache-2.0
"""The checker is shown records and answers that were tampered with, and must not be content with any of them."""
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator

from checker import Checker, Object
from place import Place
from trial import Row, Setup, timed

LAST = "(SELECT max(entry_index) FROM audit_entries WHERE CAST(entry AS TEXT) LIKE '%sign.intent%')"
STATEMENTS = {
    "an entry is missing": f"DELETE FROM audit_entries WHERE entry_index = {LAST} / 2",
    "the newest entries are missing": f"DELETE FROM audit_entries WHERE entry_index >= {LAST}",
    "an entry is not canonical": """UPDATE audit_entries SET entry = replace(entry, '"v":1', '"v": 1')
        WHERE entry_index = 9""",
    "a digest is another": f"""UPDATE audit_entries SET entry = replace(entry, '"digest":"', '"digest":"0')
        WHERE entry_index = {LAST}""",
    "a customer is another": f"""UPDATE audit_entries SET entry = replace(entry, '"hmac:1:', '"hmac:1:x')
        WHERE entry_index = {LAST}""",
    "an entry is earlier than the one before": f"""UPDATE audit_entries SET entry = replace(entry, '"t":1', '"t":')
        WHERE entry_index = {LAST}""",
    "a nonce belongs to two grants": f"""UPDATE audit_entries SET entry = replace(entry, '"grant":"0', '"grant":"f')
        WHERE entry_index = {LAST}""",
    "the ledger lacks a grant": "DELETE FROM grants_by_time WHERE grant_id = (SELECT max(grant_id) FROM grants_by_time)",
    "a day counts one grant more": "UPDATE grants_per_day SET granted = granted + 1",
}


def other_signature(line: Object) -> None:
    text = line["answer"]["signature"]
    line["answer"]["signature"] = text[:-8] + ("AAAA" if text[-8:-4] != "AAAA" else "BBBB") + text[-4:]


def refused_too_soon(line: Object) -> None:
    line.update(status=403, codes=["grants-cap-reached"], customer="somebody-else")


def other_account(line: Object) -> None:
    line["token"] = "00000000-0000-4000-8000-000000000000"


ANSWERS: dict[str, Callable[[Object], None]] = {
    "a nonce is another": lambda line: line["answer"].update(nonce="00000000-0000-4000-8000-000000000000"),
    "a time is another": lambda line: line["answer"].update(timestamp=line["answer"]["timestamp"] + 1),
    "a signature is another": other_signature,
    "a grant is another": lambda line: line["answer"].update(grantId="00000000-0000-4000-8000-000000000000"),
    "one key has two grants": lambda line: line.update(key="run-key-of-another"),
    "a cap is said that is not reached": refused_too_soon,
    "another account was asked for": other_account,
}


def finds(place: Place, database: str, answers: str, checkpoints: str, cap: int = 3) -> bool:
    return bool(Checker(f"sqlite:{database}", answers, place.path("demo"), checkpoints, cap).finish())


def with_changed_answer(place: Place, name: str, change: Callable[[Object], None]) -> str:
    """A copy of the answers in which the last grant is another."""
    lines = place.answers_since(0)
    last = [line for line in lines if line["status"] == 200][-1]
    change(last)
    if name == "one key has two grants":
        next(line for line in lines if line["status"] == 200 and line is not last)["key"] = last["key"]
    path = place.path("changed-answers")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path


def with_changed_checkpoint(place: Place) -> str:
    """A folder with a changed root in one checkpoint, so the signature of that checkpoint is wrong."""
    folder = place.path("changed-checkpoints")
    shutil.copytree(place.checkpoints, folder)
    path = os.path.join(folder, sorted(os.listdir(folder))[-1])
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    lines[2] = lines[2].swapcase()
    with open(path, "wb") as file:
        file.write(b"\n".join(lines))
    return folder


def checks_of_the_checker(setup: Setup) -> Iterator[Row]:
    started, row = time.monotonic(), Row("the checker, shown records that were tampered with")
    with Place(setup.binary) as place:
        service = place.start()
        place.keep_checkpoints()
        place.load(connections=4, requests=300).finish()
        place.end_checkpoints()
        service.stop()
        database = place.database.removeprefix("sqlite:")

        def expect(name: str, found: bool) -> None:
            row.tried += 1
            row.survived += found
            row.problems += [] if found else [f"not noticed: {name}"]

        expect("all is well", not finds(place, database, place.answers, place.checkpoints))
        expect("a cap that is exceeded", finds(place, database, place.answers, place.checkpoints, cap=2))
        for name, statement in STATEMENTS.items():
            copy = place.path("copy.db")
            shutil.copy(database, copy)
            with sqlite3.connect(copy) as connection:
                connection.create_function("replace", 3, lambda text, old, new: replaced(text, old, new))
                connection.execute(statement)
            connection.close()
            expect(name, finds(place, copy, place.answers, place.checkpoints))
        for name, change in ANSWERS.items():
            expect(name, finds(place, database, with_changed_answer(place, name, change), place.checkpoints))
        expect("a checkpoint is another", finds(place, database, place.answers, with_changed_checkpoint(place)))
    yield timed(row, started)


def replaced(text: bytes, old: str, new: str) -> bytes:
    """Like SQL's function, for bytes, and once only."""
    return text.replace(old.encode(), new.encode(), 1)
