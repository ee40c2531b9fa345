# SPDX-License-Identifier: Apache-2.0
"""The Merkle tree of RFC 6962, and signed notes as C2SP has them, recomputed without the service's code."""
import base64
import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


class Tree:
    """A tree that grows leaf by leaf and knows the root of each of its earlier sizes."""

    def __init__(self) -> None:
        # levels[k] has the hashes of the complete subtrees of 2**k leaves.
        self._levels: list[list[bytes]] = [[]]

    def __len__(self) -> int:
        return len(self._levels[0])

    def append(self, entry: bytes) -> None:
        node, level = hashlib.sha256(b"\0" + entry).digest(), 0
        while True:
            self._levels[level].append(node)
            if len(self._levels[level]) % 2:
                return
            node = hashlib.sha256(b"\1" + self._levels[level][-2] + self._levels[level][-1]).digest()
            level += 1
            if level == len(self._levels):
                self._levels.append([])

    def root(self, size: int) -> bytes:
        """The root of the first `size` leaves."""
        if size > len(self):
            raise ValueError(f"the tree has {len(self)} leaves, not {size}")
        root: bytes | None = None
        for level, nodes in enumerate(self._levels):
            if size >> level & 1:
                peak = nodes[(size >> level) - 1]
                root = peak if root is None else hashlib.sha256(b"\1" + peak + root).digest()
        return root or hashlib.sha256(b"").digest()


class LogKey:
    """The public key of a log, from `NAME+HASH+BASE64`."""

    def __init__(self, text: str) -> None:
        self._name, identifier, encoded = text.strip().split("+", 2)
        self._id, key = bytes.fromhex(identifier), base64.b64decode(encoded)
        if hashlib.sha256(self._name.encode() + b"\n" + key).digest()[:4] != self._id or key[:1] != b"\1":
            raise ValueError(f"{text!r} is no verifier key")
        self._key = Ed25519PublicKey.from_public_bytes(key[1:])

    def open(self, note: bytes) -> tuple[int, bytes]:
        """Size and root that a checkpoint says; ValueError if it is not signed by this key."""
        text, _, signatures = note.partition(b"\n\n")
        text += b"\n"
        origin, size, root = text.decode().split("\n")[:3]
        if origin != self._name:
            raise ValueError(f"a checkpoint of {origin!r}")
        for line in signatures.decode().splitlines():
            _, name, encoded = line.split(" ")
            signature = base64.b64decode(encoded)
            if name == self._name and signature[:4] == self._id:
                try:
                    self._key.verify(signature[4:], text)
                except InvalidSignature:
                    raise ValueError(f"the signature of the checkpoint of size {size} is wrong") from None
                return int(size), base64.b64decode(root)
        raise ValueError(f"the checkpoint of size {size} is not signed")
