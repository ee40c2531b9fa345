# SPDX-License-Identifier: Apache-2.0
"""Checks that every signature that was delivered has its entry among those that a verifier found in the log.

Usage: log_holds_answers.py ENTRIES DELIVERIES BUNDLE PRODUCT
ENTRIES has one entry a line. Prints the number of answers and of entries.
"""
import json
import sys

from common import complain, digests, without_repeats

entries, deliveries, bundle, product = sys.argv[1:]
problems, recorded, count = [], {}, 0
for line in open(entries, "rb"):
    entry = json.loads(line, object_pairs_hook=without_repeats)
    count += 1
    if entry["ev"] == "sign.intent":
        recorded[entry["digest"]] = entry
answers = [json.loads(line)["answer"] for line in open(deliveries, encoding="utf-8")]
for answer in answers:
    found = digests(answer, bundle, product)
    if not found:
        problems.append(f"{answer['grantId']} has no signature")
    for form, digest in found:
        if recorded.get(digest, {}).get("grant") != answer["grantId"]:
            problems.append(f"{answer['grantId']} ({form}) is not in the log")
if not answers:
    problems.append("no answer was delivered")
print(len(answers), count)
complain(problems)
