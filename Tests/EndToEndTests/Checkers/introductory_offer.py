# SPDX-License-Identifier: Apache-2.0
"""Checks an answer about an introductory offer, and its JWS with PyJWT.

Usage: introductory_offer.py ANSWER.json PUBLIC-KEY.pem BUNDLE PRODUCT TRANSACTION-ID KEY-ID ISSUER-ID true|false
"""
import json
import sys

import jwt

from common import complain

answer_path, public_key, bundle, product, transaction_id, key_id, issuer, allows = sys.argv[1:]
with open(answer_path, encoding="utf-8") as file:
    answer = json.load(file)
with open(public_key, encoding="utf-8") as file:
    pem = file.read()
problems = []


def expect(what, found, wanted):
    # True is not 1 here.
    if (type(found), found) != (type(wanted), wanted):
        problems.append(f"{what}: found {found!r}, expected {wanted!r}")


allowed = allows == "true"
expect("keyIdentifier", answer["keyIdentifier"], key_id)
expect("answer", answer["allowIntroductoryOffer"], allowed)
expect("outcome", answer["decision"]["outcome"], "eligible" if allowed else "notEligible")
expect("JWS header", jwt.get_unverified_header(answer["jws"]), {"alg": "ES256", "kid": key_id, "typ": "JWT"})
# The clock of the service under test is its own.
claims = jwt.decode(answer["jws"], pem, algorithms=["ES256"], audience="introductory-offer-eligibility",
                    options={"require": ["iss", "iat", "aud"], "verify_iat": False})
expect("claims", claims, {
    "iss": issuer, "iat": answer["timestamp"] // 1000, "aud": "introductory-offer-eligibility", "bid": bundle,
    "nonce": answer["nonce"], "productId": product, "allowIntroductoryOffer": allowed,
    "transactionId": transaction_id,
})
complain(problems)
