"""Fills a demo's ledger or log as years of use would have left it, with SQL in the service's own schema.

Nothing measured depends on who wrote the rows; that they lie as life leaves them is what matters. So grants are added
in the order of time, which for the customers' index is random, and pages come to be as full as they come to be.
"""
import itertools
import os
import sqlite3
import struct
import subprocess
import time

from . import tree

DAY = 86_400_000


def opened(path):
    """A connection that is fast because nothing needs to survive a crash meanwhile."""
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ["journal_mode = OFF", "synchronous = OFF", "cache_size = -3000000", "locking_mode = EXCLUSIVE"]:
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def offer_key(connection):
    """The ledger's number of the demo's offer, which a first signature has put there."""
    return connection.execute("SELECT offer_key FROM granted_offers WHERE rule = 'winback'").fetchone()[0]


def randoms(size, count):
    """`count` random strings of `size` bytes; the system is asked for many at once."""
    for first in range(0, count, 8192):
        pool = os.urandom(size * min(8192, count - first))
        for place in range(0, len(pool), size):
            yield pool[place:place + size]


def customers(path, count, days=365):
    """One grant for each of `count` customers, evenly over the days before yesterday.

    Written are `grants`, `issued_grants` and `grants_per_day`, as a decision writes them on a server, and no entries of the
    audit log: `entry_index` names the first one. The log has a size of its own to grow by, and the service holds the two
    against each other only where a customer or a secret is looked up. In SQLite new grants are rows of `grants_by_time`, so
    `grant_offsets` is filled too, as if these had been: their offsets lead to no grant, and cost what others do.
    """
    connection = opened(path)
    key = offer_key(connection)
    first = (int(time.time() * 1000) // DAY - days - 1) * DAY

    def rows():
        for number, random in enumerate(randoms(28, count)):
            at = first + number * days * DAY // count
            grant = struct.pack(">Q", at << 16 | 0x7000 | number & 0xFFF) + b"\x80" + random[:7]
            yield random[10:], key, grant, at

    connection.execute("BEGIN")
    every = rows()
    while some := list(itertools.islice(every, 100_000)):
        connection.executemany("INSERT INTO grants (subject, offer_key, grant_id, entry_index) VALUES (?, ?, ?, 0)",
                               (row[:3] for row in some))
        connection.executemany("INSERT INTO issued_grants (grant_id, offer_key, granted_at, account, entry_index) "
                               "VALUES (?, ?, ?, ?, 0)", ((row[2], row[1], row[3], row[0]) for row in some))
    connection.executemany("INSERT INTO grants_per_day (offer_key, day, granted) VALUES (?, ?, ?)",
                           [(key, first // DAY + day, count // days) for day in range(days)])
    connection.executemany("INSERT OR REPLACE INTO grant_offsets (first_prefix, offsets) VALUES (?, ?)", blocks(count))
    connection.execute("COMMIT")
    connection.close()


def customers_on_server(cluster, database, count, days=365):
    """The same on a PostgreSQL server, made by the server itself; all of them are in `grants`."""
    first = (int(time.time() * 1000) // DAY - days - 1) * DAY
    subject = "substring(sha256(int8send(n)) FOR 18)"
    at = f"{first} + n * {days * DAY} / {count}"
    grant = f"int8send((({at}) << 16) | 28672 | (n & 4095)) || '\\x80' || substring(sha256(int8send(-n)) FOR 7)"
    key = "(SELECT offer_key FROM granted_offers WHERE rule = 'winback')"
    numbers = f"generate_series(1, {count}::bigint) n"
    cluster.sql(database, f"""
        INSERT INTO grants (subject, offer_key, grant_id, entry_index) SELECT {subject}, {key}, {grant}, 0 FROM {numbers};
        INSERT INTO issued_grants (grant_id, offer_key, granted_at, account, entry_index)
        SELECT {grant}, {key}, {at}, {subject}, 0 FROM {numbers};
        INSERT INTO grants_per_day (offer_key, day, granted)
        SELECT {key}, {first // DAY} + day, {count // days} FROM generate_series(0, {days - 1}) day""")
    cluster.sql(database, "VACUUM ANALYZE")
    # What was filled is on the disk before anything is measured.
    cluster.sql(database, "CHECKPOINT")


def blocks(count):
    """Offsets of `count` grants in the order of customers: 24 bits of the customer, 40 of an entry that the log has."""
    words = sorted({(int.from_bytes(random, "big") << 40) | 1 + number % 4
                    for number, random in enumerate(randoms(3, count))})
    first, start = 0, 0
    while start < len(words):
        end = min(start + WORDS_IN_BLOCK, len(words))
        # All of one prefix are in one block.
        while end < len(words) and words[end] >> 40 == words[end - 1] >> 40:
            end += 1
        yield first, struct.pack(f">{end - start}Q", *words[start:end])
        if end < len(words):
            first = words[end] >> 40
        start = end


# As many as are in one on average: a full one has 500, and is then halved.
WORDS_IN_BLOCK = 360

ENTRY = ('{"bundle":"com.example.app","caller":"demo-backend","digest":"%s","ev":"sign.intent","fmt":"v1","grant":"%s",'
         '"kid":"ABC123DEFG","nonce":"%s","offer":"winback_3m","product":"com.example.pro.monthly","rid":"%s",'
         '"rule":"winback","rules":"sha256:%s","spki":"%s","t":%d,"ts":%d,"users":["hmac:1:%s"],"v":1}')


def entries(path, count, days=365):
    """`count` signatures in the audit log, in the form that they have there, evenly over the days before yesterday.

    The tree is written with them; `index_log` has the program make the index.
    """
    connection = opened(path)
    # The first start has left a few entries, and a tree over them.
    begun = connection.execute("SELECT count(*) FROM audit_entries").fetchone()[0]
    first = (int(time.time() * 1000) // DAY - days - 1) * DAY
    rules, spki = os.urandom(32).hex(), os.urandom(32).hex()

    def rows():
        for number, random in enumerate(randoms(88, count - begun)):
            text = random.hex()
            uuids = [f"{part[:8]}-{part[8:12]}-7{part[13:16]}-8{part[17:20]}-{part[20:32]}"
                     for part in (text[64:96], text[96:128])]
            at = first + number * days * DAY // count
            entry = ENTRY % (text[:64], uuids[0], uuids[1], uuids[0], rules, spki, at, at, text[128:171])
            yield begun + number, entry.encode()

    connection.execute("BEGIN")
    connection.executemany("INSERT INTO audit_entries (entry_index, entry) VALUES (?, ?)", rows())
    tree.write(connection)
    connection.execute("COMMIT")
    connection.close()


def index_log(binary, path):
    """Has the program make the index over the log."""
    command = [binary, "audit", "index", "--rebuild", "--database", f"sqlite:{path}"]
    subprocess.run(command, check=True, capture_output=True)
