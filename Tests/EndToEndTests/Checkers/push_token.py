# SPDX-License-Identifier: Apache-2.0
"""Checks OIDC tokens as an endpoint of Pub/Sub must, with PyJWT and a JWKS.

Usage: push_token.py JWKS.json AUDIENCE EMAIL <lines of `NAME TOKEN`
Prints JSON: by name, null for what is right and why it is refused for what is not.
"""
import base64
import json
import sys
import time

import jwt

ISSUERS = ("https://accounts.google.com", "accounts.google.com")
LONGEST_LIFE_SECONDS = 3700
LONGEST_TOKEN = 8192


def check(token, keys, audience, email):
    """Raises ValueError or an error of PyJWT for what is wrong."""
    if len(token) > LONGEST_TOKEN:
        raise ValueError("too long")
    segments = token.split(".")
    if len(segments) != 3:
        raise ValueError("not three segments")
    for segment in segments:
        decoded = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
        if not segment or base64.urlsafe_b64encode(decoded).rstrip(b"=").decode() != segment:
            raise ValueError("a segment is empty or not canonical")
    header = json.loads(jwt.utils.base64url_decode(segments[0]), object_pairs_hook=without_repeats)
    if "crit" in header or header.get("kid") not in keys:
        raise ValueError("a critical member of the header, or no key of the id")
    key = jwt.PyJWK(keys[header["kid"]], algorithm="RS256").key
    options = {"require": ["exp", "iat", "iss", "aud"]}
    claims = jwt.decode(token, key, algorithms=["RS256"], audience=audience, options=options)
    json.loads(jwt.utils.base64url_decode(segments[1]), object_pairs_hook=without_repeats)
    check_claims(claims, email)


def check_claims(claims, email):
    if claims["iss"] not in ISSUERS or claims["aud"].__class__ is not str:
        raise ValueError("issuer or audience")
    if claims.get("email") != email or claims.get("email_verified") is not True:
        raise ValueError("e-mail")
    if type(claims["exp"]) is not int or type(claims["iat"]) is not int:
        raise ValueError("times are not numbers")
    if claims["iat"] > time.time() + 60 or claims["exp"] - claims["iat"] > LONGEST_LIFE_SECONDS:
        raise ValueError("life")


def without_repeats(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a member is there twice")
    return dict(pairs)


def verdict(token, *arguments):
    try:
        check(token, *arguments)
    except (ValueError, TypeError, KeyError, jwt.PyJWTError) as error:
        return f"{type(error).__name__}: {error}"
    return None


with open(sys.argv[1], encoding="utf-8") as file:
    published = {key["kid"]: key for key in json.load(file)["keys"]}
verdicts = {}
for line in sys.stdin:
    name, _, text = line.rstrip("\n").partition(" ")
    verdicts[name] = verdict(text, published, sys.argv[2], sys.argv[3])
print(json.dumps(verdicts))
