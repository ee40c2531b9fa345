# SPDX-License-Identifier: Apache-2.0
"""What the checkers share; none of it comes from the service."""
import base64
import hashlib
import json
import sqlite3
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


def open_database(path):
    """The service's database, read with Python's own SQLite."""
    return sqlite3.connect(f"file:{path}?mode=rw", uri=True, timeout=30)
