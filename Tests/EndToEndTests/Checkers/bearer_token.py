# SPDX-License-Identifier: Apache-2.0
"""Prints a token for the App Store Server API, made by PyJWT.

Usage: bearer_token.py PRIVATE-KEY.pem CHANGES
CHANGES is JSON: members to change in "header" and "claims" (null: absent; "iat" and "exp" are seconds from now), and
"signature", to be put in the place of the right one.
"""
import json
import sys
import time

import jwt

key_path, changes = sys.argv[1], json.loads(sys.argv[2])
header = {"kid": "ABC123DEFG"} | changes.get("header", {})
claims = {
    "iss": "57246542-96fe-1a63-e053-0824d011072a",
    "iat": 0,
    "exp": 3600,
    "aud": "appstoreconnect-v1",
    "bid": "com.example.app",
} | changes.get("claims", {})
claims = {name: value for name, value in claims.items() if value is not None}
for name in claims.keys() & {"iat", "exp"}:
    if isinstance(claims[name], int):
        claims[name] += int(time.time())
with open(key_path, encoding="utf-8") as file:
    token = jwt.encode(claims, file.read(), algorithm="ES256", headers=header)
if "signature" in changes:
    token = f"{token.rsplit('.', 1)[0]}.{changes['signature']}"
print(token)
