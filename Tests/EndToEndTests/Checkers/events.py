# SPDX-License-Identifier: Apache-2.0
"""Prints the event of each entry of the log, in order.

Usage: events.py DATABASE
"""
import json
import sys

from common import open_database

for row in open_database(sys.argv[1]).rows("SELECT entry FROM audit_entries ORDER BY entry_index"):
    print(json.loads(row[0])["ev"])
