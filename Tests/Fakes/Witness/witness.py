# SPDX-License-Identifier: Apache-2.0
"""What a witness does: https://c2sp.org/tlog-witness over https://c2sp.org/tlog-checkpoint."""
import base64
import hashlib
import os
import struct
import time
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from merkle import consistency_roots

LOG_KEY, COSIGNATURE_KEY = 1, 4
LONGEST_PROOF = 63


class Refused(Exception):
    """Why nothing is signed: a status, and what is said with it."""

    def __init__(self, status, body, content_type="text/plain"):
        super().__init__(status, body)
        self.status, self.body, self.content_type = status, body, content_type


@dataclass
class Log:
    """A log that is trusted, and how far it was seen."""

    name: str
    key_id: bytes
    key: Ed25519PublicKey
    size: int = 0
    root: bytes = hashlib.sha256(b"").digest()


@dataclass
class Checkpoint:
    text: bytes
    origin: str
    size: int
    root: bytes


class Witness:
    """Signs that logs grow."""

    def __init__(self, name):
        self.name = name
        self._key = Ed25519PrivateKey.from_private_bytes(os.urandom(32))
        public = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self._id, self.vkey = key_id_and_text(name, bytes([COSIGNATURE_KEY]) + public)
        self.logs = {}
        # Each checkpoint that was cosigned, from the oldest.
        self.cosigned = []

    def trust(self, vkey):
        """Knows a log from now on, from its beginning."""
        name, _, rest = vkey.partition("+")
        key = decode(rest.partition("+")[2].encode())
        key_id, text = key_id_and_text(name, key)
        if text != vkey or key[0] != LOG_KEY or len(key) != 33:
            raise ValueError(f"not the key of a log: {vkey}")
        self.logs[name] = Log(name, key_id, Ed25519PublicKey.from_public_bytes(key[1:]))

    def add_checkpoint(self, body):
        """The cosignature line for what a log submits; raises Refused."""
        old, proof, note = parse_submission(body)
        checkpoint = parse_note(note)
        log = self.logs.get(checkpoint.origin)
        if log is None:
            raise Refused(404, "unknown log")
        if not is_signed(note, checkpoint, log):
            raise Refused(403, "no signature by a key that is known")
        if old > checkpoint.size:
            raise Refused(400, "the old size is larger than the checkpoint's")
        if old != log.size or old == checkpoint.size and checkpoint.root != log.root:
            raise Refused(409, f"{log.size}\n", "text/x.tlog.size")
        self._verify(log, checkpoint, proof)
        log.size, log.root = checkpoint.size, checkpoint.root
        self.cosigned.append(checkpoint)
        return self._cosign(checkpoint)

    def _verify(self, log, checkpoint, proof):
        if log.size in (0, checkpoint.size):
            if proof:
                raise Refused(422, "a proof where none is needed")
            return
        if consistency_roots(log.size, checkpoint.size, log.root, proof) != (log.root, checkpoint.root):
            raise Refused(422, "the log did not grow from what was seen")

    def _cosign(self, checkpoint):
        seconds = int(time.time())
        message = f"cosignature/v1\ntime {seconds}\n".encode() + checkpoint.text
        signature = self._id + struct.pack(">Q", seconds) + self._key.sign(message)
        return f"\u2014 {self.name} {base64.b64encode(signature).decode()}\n"


def key_id_and_text(name, key):
    key_id = hashlib.sha256(name.encode() + b"\n" + key).digest()[:4]
    return key_id, f"{name}+{key_id.hex()}+{base64.b64encode(key).decode()}"


def decode(text):
    """Base64 as it must be written; raises ValueError."""
    raw = base64.b64decode(text, validate=True)
    if base64.b64encode(raw) != text:
        raise ValueError(f"not canonical base64: {text!r}")
    return raw


def number(text):
    if not text.isdigit() or str(int(text)).encode() != text:
        raise ValueError(f"not a number: {text!r}")
    return int(text)


def parse_submission(body):
    """The old size, the hashes of the proof, and the note; raises Refused."""
    try:
        head, note = body.split(b"\n\n", 1)
        first, *hashes = head.split(b"\n")
        if not first.startswith(b"old ") or len(hashes) > LONGEST_PROOF:
            raise ValueError("no old size, or too long a proof")
        proof = [decode(line) for line in hashes]
        if any(len(entry) != 32 for entry in proof):
            raise ValueError("a hash of another length")
        return number(first[4:]), proof, note
    except ValueError as error:
        raise Refused(400, f"malformed: {error}") from error


def parse_note(note):
    """The text of a note as a checkpoint; raises Refused."""
    try:
        text = note[:note.rindex(b"\n\n") + 1]
        origin, size, root, *_, end = text.split(b"\n")
        if end or len(decode(root)) != 32:
            raise ValueError("no end, or a root of another length")
        return Checkpoint(text, origin.decode(), number(size), decode(root))
    except ValueError as error:
        raise Refused(400, f"malformed: {error}") from error


def is_signed(note, checkpoint, log):
    """Whether one of the lines is the log's, and none of the log's is wrong."""
    found = False
    for line in note[len(checkpoint.text) + 1:].decode("utf-8", "replace").splitlines():
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        if dash != "\u2014" or name != log.name:
            continue
        try:
            signature = decode(encoded.encode())
            if signature[:4] == log.key_id:
                log.key.verify(signature[4:], checkpoint.text)
                found = True
        except (ValueError, InvalidSignature):
            return False
    return found
