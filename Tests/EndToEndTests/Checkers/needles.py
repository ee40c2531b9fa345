# SPDX-License-Identifier: Apache-2.0
"""Looks for secrets where none may be.

Usage: needles.py files PRIVATE-KEY.p8 TEXT,TEXT… FILE…     every form of the key, and the texts
       needles.py memory PRIVATE-KEY.p8 PID                 the private number, in the memory of a process

`files` names each hit and exits with 1 if there is one. `memory` prints how often the number is there as DER has
it (big-endian), as OpenSSL computes with it (little-endian), and how often a line of its PEM text.
"""
import base64
import sys

from cryptography.hazmat.primitives.serialization import load_pem_private_key

from common import complain

with open(sys.argv[2], "rb") as file:
    pem = file.read()
number = load_pem_private_key(pem, None).private_numbers().private_value
scalar = number.to_bytes(32, "big")
lines = [line for line in pem.splitlines() if not line.startswith(b"-----")]


def forms():
    """The private key as it could stand in a text or a file."""
    yield "private number", scalar
    yield "private number, little-endian", scalar[::-1]
    yield "private number in hex", scalar.hex().encode()
    yield "private number in HEX", scalar.hex().upper().encode()
    yield "private number in decimals", str(number).encode()
    yield "private number in bytes", ", ".join(str(byte) for byte in scalar).encode()
    # Whatever comes before it, its middle has one of three alignments in Base64.
    for shift in range(3):
        text = base64.b64encode(bytes(shift) + scalar)[4:40]
        yield "private number in Base64", text
        yield "private number in base64url", text.translate(bytes.maketrans(b"+/", b"-_"))
    for line in lines:
        yield "PEM text", line


def occurrences(memory, needle):
    count, start = 0, memory.find(needle)
    while start >= 0:
        count, start = count + 1, memory.find(needle, start + 1)
    return count


def memory_of(process):
    """Each readable mapping of a process."""
    with open(f"/proc/{process}/maps", encoding="utf-8") as maps:
        mappings = [line.split() for line in maps]
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for fields in mappings:
            first, end = (int(text, 16) for text in fields[0].split("-"))
            if not fields[1].startswith("r") or fields[-1] in ("[vvar]", "[vsyscall]"):
                continue
            content = b""
            try:
                memory.seek(first)
                while len(content) < end - first:
                    part = memory.read(end - first - len(content))
                    if not part:
                        break
                    content += part
            except OSError:
                pass
            yield content


if sys.argv[1] == "memory":
    totals = [0, 0, 0]
    for content in memory_of(sys.argv[3]):
        for place, needle in enumerate((scalar, scalar[::-1], lines[1])):
            totals[place] += occurrences(content, needle)
    print(*totals)
else:
    found = []
    needles = list(forms()) + [("secret text", text.encode()) for text in sys.argv[3].split(",")]
    for path in sys.argv[4:]:
        with open(path, "rb") as file:
            content = file.read()
        found += [f"{path} holds a {name}" for name, needle in needles if needle in content]
    complain(found)
