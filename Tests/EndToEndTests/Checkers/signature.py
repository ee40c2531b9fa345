# SPDX-License-Identifier: Apache-2.0
"""Checks an answer's V1 signature with the openssl command, and its JWS with PyJWT.

Usage: signature.py ANSWER.json PUBLIC-KEY.pem BUNDLE PRODUCT OFFER KEY-ID ISSUER-ID
"""
import base64
import json
import os
import subprocess
import sys
import tempfile
import time

import jwt

from common import complain, v1_payload

answer_path, public_key, bundle, product, offer, key_id, issuer = sys.argv[1:]
with open(answer_path, encoding="utf-8") as file:
    answer = json.load(file)
problems = []


def expect(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: found {found!r}, expected {wanted!r}")


expect("identifier", answer["identifier"], offer)
expect("keyIdentifier", answer["keyIdentifier"], key_id)
expect("lowercase token", answer["appAccountToken"], answer["appAccountToken"].lower())
expect("outcome", answer["decision"]["outcome"], "eligible")
if abs(time.time() * 1000 - answer["timestamp"]) > 600_000:
    problems.append(f"timestamp {answer['timestamp']} is not now, in milliseconds")

with tempfile.TemporaryDirectory() as folder:
    names = [os.path.join(folder, name) for name in ("payload", "signature")]
    signature = base64.b64decode(answer["signature"], validate=True)
    for name, content in zip(names, (v1_payload(answer, bundle, product), signature)):
        with open(name, "wb") as file:
            file.write(content)
    verdict = subprocess.run(
        ["openssl", "dgst", "-sha256", "-verify", public_key, "-signature", names[1], names[0]],
        capture_output=True, text=True, check=False)
    expect("openssl", (verdict.returncode, verdict.stdout.strip()), (0, "Verified OK"))

with open(public_key, encoding="utf-8") as file:
    pem = file.read()
expect("JWS header", jwt.get_unverified_header(answer["jws"]), {"alg": "ES256", "kid": key_id, "typ": "JWT"})
claims = jwt.decode(answer["jws"], pem, algorithms=["ES256"], audience="promotional-offer",
                    options={"require": ["iss", "iat", "aud"]})
expect("names of claims", sorted(set(claims) - {"transactionId"}),
       ["aud", "bid", "iat", "iss", "nonce", "offerIdentifier", "productId"])
for name, wanted in (("iss", issuer), ("bid", bundle), ("productId", product), ("offerIdentifier", offer),
                     ("nonce", answer["nonce"]), ("iat", answer["timestamp"] // 1000)):
    expect(f"claim {name}", claims.get(name), wanted)
complain(problems)
