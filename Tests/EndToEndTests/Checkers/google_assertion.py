# SPDX-License-Identifier: Apache-2.0
"""Prints an assertion for Google's token endpoint, made by PyJWT from the key file of a service account.

Usage: google_assertion.py KEY-FILE.json CHANGES
CHANGES is JSON: members to change in "header" and "claims" (null: absent; "iat" and "exp" are seconds from now), and
"signature", to be put in the place of the right one.
"""
import json
import sys
import time

import jwt

with open(sys.argv[1], encoding="utf-8") as file:
    account = json.load(file)
changes = json.loads(sys.argv[2])
header = {"kid": account["private_key_id"]} | changes.get("header", {})
claims = {
    "iss": account["client_email"],
    "scope": "https://www.googleapis.com/auth/androidpublisher",
    "aud": account["token_uri"],
    "iat": 0,
    "exp": 3600,
} | changes.get("claims", {})
claims = {name: value for name, value in claims.items() if value is not None}
for name in claims.keys() & {"iat", "exp"}:
    if isinstance(claims[name], int):
        claims[name] += int(time.time())
token = jwt.encode(claims, account["private_key"], algorithm="RS256", headers=header)
if "signature" in changes:
    token = f"{token.rsplit('.', 1)[0]}.{changes['signature']}"
print(token)
