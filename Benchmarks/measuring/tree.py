"""The log's Merkle tree (RFC 6962), written into the service's tables as the service leaves it."""
import hashlib

WIDTH = 256


def write(connection):
    """Rebuilds `log_tiles` and `log_head` from all rows of `audit_entries`."""
    rows = connection.execute("SELECT entry FROM audit_entries ORDER BY entry_index")
    levels = [[hashlib.sha256(b"\0" + entry).digest() for entry, in rows]]
    while len(levels[-1]) > 1:
        nodes = iter(levels[-1])
        levels.append([hashlib.sha256(b"\1" + left + right).digest() for left, right in zip(nodes, nodes)])
    connection.execute("DELETE FROM log_tiles")
    connection.executemany("INSERT INTO log_tiles (level, tile_index, hashes) VALUES (?, ?, ?)", tiles(levels))
    connection.execute("UPDATE log_head SET size = ?, root_hash = ?", (len(levels[0]), root(levels)))


def tiles(levels):
    """Full tiles of every level, and of all but the lowest also the one that grows."""
    for level, nodes in enumerate(levels[::8]):
        for first in range(0, len(nodes), WIDTH):
            hashes = nodes[first:first + WIDTH]
            if level or len(hashes) == WIDTH:
                yield level, first // WIDTH, b"".join(hashes)


def root(levels):
    """The root of all leaves: each level has the complete subtrees of two of those below it."""
    size, hash = len(levels[0]), None
    for level, nodes in enumerate(levels):
        if size >> level & 1:
            peak = nodes[(size >> level) - 1]
            hash = peak if hash is None else hashlib.sha256(b"\1" + peak + hash).digest()
    return hash or hashlib.sha256(b"").digest()
