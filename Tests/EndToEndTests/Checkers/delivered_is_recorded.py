# SPDX-License-Identifier: Apache-2.0
"""Checks that every signature that was delivered is on record, and that the record is whole.

Usage: delivered_is_recorded.py DATABASE DELIVERIES BUNDLE PRODUCT CAP
Prints the number of answers delivered and of grants recorded.
"""
import collections
import json
import os
import sys

from common import canonical, complain, digests, open_database, without_repeats

location, deliveries, bundle, product, cap = sys.argv[1:]
database = open_database(location)
problems = database.damage()

intents, grants_by_user, nonces = {}, collections.defaultdict(set), {}
for position, (index, entry) in enumerate(
        database.rows("SELECT entry_index, entry FROM audit_entries ORDER BY entry_index")):
    if index != position:
        problems.append(f"record {position} has index {index}")
        break
    record = json.loads(bytes(entry).decode(), object_pairs_hook=without_repeats)
    if canonical(record).encode() != bytes(entry):
        problems.append(f"record {index} is not canonical")
    if record["ev"] != "sign.intent":
        continue
    intents[record["digest"]] = record
    for user in record["users"]:
        grants_by_user[user].add(record["grant"])
    if nonces.setdefault(record["nonce"], record["grant"]) != record["grant"]:
        problems.append(f"nonce {record['nonce']} belongs to two grants")

for user, grants in grants_by_user.items():
    if len(grants) > int(cap):
        problems.append(f"{user} has {len(grants)} grants on record")
stored = {bytes(row[0]).hex() for row in database.rows("SELECT grant_id FROM grants UNION SELECT grant_id FROM grants_by_time")}
recorded = {grant.replace("-", "") for grants in grants_by_user.values() for grant in grants}
if stored != recorded:
    problems.append(f"ledger and records differ in {len(stored ^ recorded)} grants")
granted = database.rows("SELECT coalesce(sum(granted), 0) FROM grants_per_day")[0][0]
if granted != len(recorded):
    problems.append(f"the days count {granted} grants, the records {len(recorded)}")

customers, count = collections.defaultdict(set), 0
lines = open(deliveries, encoding="utf-8").read().splitlines() if os.path.exists(deliveries) else []
for line in lines:
    delivery = json.loads(line)
    answer = delivery["answer"]
    count += 1
    customers[delivery["customer"]].add(answer["grantId"])
    for form, digest in digests(answer, bundle, product):
        record = intents.get(digest)
        if record is None:
            problems.append(f"{answer['grantId']} ({form}) was delivered and is not on record")
        elif (record["grant"], record["nonce"], record["fmt"]) != (answer["grantId"], answer["nonce"], form):
            problems.append(f"{answer['grantId']} ({form}) is on record as {record}")
for customer, grants in customers.items():
    if len(grants) > int(cap):
        problems.append(f"{customer} was given {len(grants)} grants")
print(count, len(recorded))
complain(problems)
