# SPDX-License-Identifier: Apache-2.0
"""Whether one log continues another (RFC 9162 section 2.1.4.2)."""
import hashlib

EMPTY = hashlib.sha256(b"").digest()


def node(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def is_consistent(old, new, old_root, new_root, proof):
    if old == new:
        return not proof and old_root == new_root
    if old == 0:
        return not proof
    proof = list(proof)
    if old & (old - 1) == 0:
        proof.insert(0, old_root)
    if not proof:
        return False
    first, last = old - 1, new - 1
    while first & 1:
        first, last = first >> 1, last >> 1
    left = right = proof[0]
    for item in proof[1:]:
        if last == 0:
            return False
        if first & 1 or first == last:
            left, right = node(item, left), node(item, right)
            while not first & 1 and first:
                first, last = first >> 1, last >> 1
        else:
            right = node(right, item)
        first, last = first >> 1, last >> 1
    return last == 0 and left == old_root and right == new_root
