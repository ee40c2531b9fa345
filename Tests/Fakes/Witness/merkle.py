# SPDX-License-Identifier: Apache-2.0
"""Checks proofs of consistency: RFC 9162, section 2.1.4.2, step by step."""
import hashlib


def node_hash(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def consistency_roots(first, second, first_root, proof):
    """The roots of both trees that a proof leads to; None where it is no proof between two such trees."""
    if not proof or not 0 < first < second:
        return None
    if first & (first - 1) == 0:
        proof = [first_root] + proof
    left, right = first - 1, second - 1
    while left & 1:
        left, right = left >> 1, right >> 1
    old = new = proof[0]
    for sibling in proof[1:]:
        if right == 0:
            return None
        if left & 1 or left == right:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while not left & 1 and left:
                left, right = left >> 1, right >> 1
        else:
            new = node_hash(new, sibling)
        left, right = left >> 1, right >> 1
    return (old, new) if right == 0 else None
