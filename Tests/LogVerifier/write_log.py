# SPDX-License-Identifier: Apache-2.0
"""Writes a small log in the tlog-tiles format, to try verifiers on: RFC 6962, section 2.1, word for word.

Usage: write_log.py FOLDER SIZE [--from FOLDER [--fork INDEX]] [--history SIZE,SIZE…] [--proofs INDEX,INDEX…]
                    [--origin NAME]

Makes in FOLDER: log/ (checkpoint and tiles), vkey, witness-vkey, history/SIZE (checkpoints on the way),
submissions/OLD-NEW (what a witness is sent from one of these to the next), and entries/INDEX with proofs/INDEX. The keys are new each time, unless --from names the folder of another log whose keys
to use. Entries are the same each time, unless --fork names the first that is not.
"""
import argparse
import base64
import hashlib
import json
import os
import struct
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

WIDTH = 256


def leaf_hash(entry):
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def split_of(count):
    """The largest power of two below a count."""
    return 1 << (count - 1).bit_length() - 1


def tree_hash(leaves):
    """MTH of RFC 6962."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = split_of(len(leaves))
    return node_hash(tree_hash(leaves[:k]), tree_hash(leaves[k:]))


def audit_path(index, leaves):
    """PATH of RFC 6962."""
    if len(leaves) == 1:
        return []
    k = split_of(len(leaves))
    if index < k:
        return audit_path(index, leaves[:k]) + [tree_hash(leaves[k:])]
    return audit_path(index - k, leaves[k:]) + [tree_hash(leaves[:k])]


def consistency_proof(size, leaves, is_known=True):
    """PROOF of RFC 6962, or its SUBPROOF for a subtree whose hash is not known."""
    if size == len(leaves):
        return [] if is_known else [tree_hash(leaves)]
    k = split_of(len(leaves))
    if size <= k:
        return consistency_proof(size, leaves[:k], is_known) + [tree_hash(leaves[k:])]
    return consistency_proof(size - k, leaves[k:], False) + [tree_hash(leaves[:k])]


class Key:
    """An Ed25519 key with the name that it signs notes by."""

    def __init__(self, name, kind, secret):
        self.name = name
        self.private = Ed25519PrivateKey.from_private_bytes(secret)
        public = bytes([kind]) + self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.id = hashlib.sha256(name.encode() + b"\n" + public).digest()[:4]
        self.text = f"{name}+{self.id.hex()}+{base64.b64encode(public).decode()}"

    def line(self, signature):
        return f"\u2014 {self.name} {base64.b64encode(self.id + signature).decode()}\n"

    def sign(self, text):
        return self.line(self.private.sign(text.encode()))

    def cosign(self, text, seconds):
        message = f"cosignature/v1\ntime {seconds}\n{text}".encode()
        return self.line(struct.pack(">Q", seconds) + self.private.sign(message))


def path_number(number):
    """1234067 as x001/x234/067."""
    groups = []
    while not groups or number:
        number, rest = divmod(number, 1000)
        groups.append(f"{rest:03}" if not groups else f"x{rest:03}")
    return "/".join(reversed(groups))


def write(folder, path, content):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def write_tiles(folder, entries, leaves, size):
    """The tiles of the log when it had that size."""
    bundles = [struct.pack(">H", len(entry)) + entry for entry in entries[:size]]
    write_level(folder, "entries", bundles)
    level, row = 0, leaves[:size]
    while row:
        write_level(folder, str(level), row)
        row = [tree_hash(row[i:i + WIDTH]) for i in range(0, len(row) - WIDTH + 1, WIDTH)]
        level += 1


def write_level(folder, level, parts):
    for first in range(0, len(parts), WIDTH):
        tile = parts[first:first + WIDTH]
        partial = "" if len(tile) == WIDTH else f".p/{len(tile)}"
        path = f"log/tile/{level}/{path_number(first // WIDTH)}{partial}"
        if partial or not os.path.exists(os.path.join(folder, path)):
            write(folder, path, b"".join(tile))


def numbers(text):
    return [int(number) for number in text.split(",") if number]


def read_secrets(folder):
    with open(os.path.join(folder, "secrets"), "rb") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("size", type=int)
    parser.add_argument("--from", dest="source")
    parser.add_argument("--fork", type=int, default=1 << 62)
    parser.add_argument("--history", type=numbers, default=[])
    parser.add_argument("--proofs", type=numbers, default=[])
    parser.add_argument("--origin", default="example.com/audit")
    options = parser.parse_args()

    folder = options.folder
    secrets = read_secrets(options.source) if options.source else os.urandom(64)
    write(folder, "secrets", secrets)
    log, witness = Key(options.origin, 1, secrets[:32]), Key("witness.example", 4, secrets[32:])
    write(folder, "vkey", log.text)
    write(folder, "witness-vkey", witness.text)

    entries = []
    for index in range(options.size):
        record = {"ev": "sign.intent", "n": index, "pad": "x" * (index % 7)}
        if index >= options.fork:
            record["fork"] = True
        entries.append(json.dumps(record, sort_keys=True, separators=(",", ":")).encode())
    leaves = [leaf_hash(entry) for entry in entries]

    def checkpoint(size):
        root = base64.b64encode(tree_hash(leaves[:size])).decode()
        text = f"{options.origin}\n{size}\n{root}\n"
        return text + "\n" + log.sign(text) + witness.cosign(text, int(time.time()))

    def lines(hashes):
        return "".join(base64.b64encode(hash).decode() + "\n" for hash in hashes)

    old = 0
    for size in options.history:
        note = checkpoint(size)
        write(folder, f"history/{size}", note)
        proof = consistency_proof(old, leaves[:size]) if old else []
        write(folder, f"submissions/{old}-{size}", f"old {old}\n{lines(proof)}\n{note}")
        write_tiles(folder, entries, leaves, size)
        old = size
    write_tiles(folder, entries, leaves, options.size)
    newest = checkpoint(options.size)
    write(folder, "log/checkpoint", newest)
    for index in options.proofs:
        path = audit_path(index, leaves)
        write(folder, f"entries/{index}", entries[index])
        write(folder, f"proofs/{index}", f"c2sp.org/tlog-proof@v1\nindex {index}\n{lines(path)}\n{newest}")


main()
