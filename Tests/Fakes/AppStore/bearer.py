# SPDX-License-Identifier: Apache-2.0
"""The bearer token of a request to the API, checked as strictly as Apple's page words it.

Source: https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
"""
import time
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import load_pem_public_key

import jws

LONGEST_LIFE_SECONDS = 3600
LONGEST_CONNECT_LIFE_SECONDS = 1200
CLOCK_SKEW_SECONDS = 60


class Refused(Exception):
    """Why a token does not open the API; the control calls show it, the client does not see it."""


@dataclass(frozen=True)
class APIKey:
    key_id: str
    issuer_id: str
    public_key: object
    bundle_ids: frozenset
    # A key of the App Store Connect API opens nothing else.
    is_for_connect: bool = False


class KeyRing:
    """The keys that the developer has registered."""

    def __init__(self):
        self._keys = {}

    def register(self, key_id, issuer_id, public_key_pem, bundle_ids, is_for_connect=False):
        key = load_pem_public_key(public_key_pem.encode())
        self._keys[key_id] = APIKey(key_id, issuer_id, key, frozenset(bundle_ids), is_for_connect)

    def revoke(self, key_id):
        del self._keys[key_id]

    def claims(self, authorization, connect=False):
        """The claims of a good token for one of the two APIs; raises Refused."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise Refused("no bearer token")
        try:
            header = jws.unverified_header(token)
        except ValueError as error:
            raise Refused(f"not a JWT: {error}") from error
        key = self._key(header)
        if key.is_for_connect != connect:
            raise Refused("the key is for another API")
        try:
            _, claims = jws.verify_es256(token, key.public_key)
        except (ValueError, InvalidSignature) as error:
            raise Refused("the signature is not the registered key's") from error
        check_claims(claims, key, time.time())
        return claims

    def _key(self, header):
        if header.get("alg") != "ES256":
            raise Refused(f"alg is {header.get('alg')!r}")
        if header.get("typ", "JWT") != "JWT":
            raise Refused(f"typ is {header['typ']!r}")
        if header.get("kid") not in self._keys:
            raise Refused(f"no key {header.get('kid')!r}")
        return self._keys[header["kid"]]


def check_claims(claims, key, now):
    """Raises Refused for claims that are not what the page asks for."""
    if not isinstance(claims, dict):
        raise Refused("the claims are not an object")
    if claims.get("iss") != key.issuer_id:
        raise Refused(f"iss is {claims.get('iss')!r}")
    if claims.get("aud") != "appstoreconnect-v1":
        raise Refused(f"aud is {claims.get('aud')!r}")
    if not key.is_for_connect and claims.get("bid") not in key.bundle_ids:
        raise Refused(f"bid is {claims.get('bid')!r}")
    issued_at, expires_at = claims.get("iat"), claims.get("exp")
    if type(issued_at) is not int or type(expires_at) is not int:
        raise Refused("iat and exp are not both whole numbers")
    if issued_at > now + CLOCK_SKEW_SECONDS:
        raise Refused("issued in the future")
    if expires_at <= now:
        raise Refused("expired")
    if key.is_for_connect and expires_at - issued_at > LONGEST_CONNECT_LIFE_SECONDS:
        raise Refused("valid for more than 20 minutes")
    if expires_at - issued_at > LONGEST_LIFE_SECONDS:
        raise Refused("valid for more than 60 minutes")
