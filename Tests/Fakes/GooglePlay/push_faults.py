# SPDX-License-Identifier: Apache-2.0
"""OIDC tokens that are wrong in one way. Each function takes header, claims, the right key and another key."""
from cryptography.hazmat.primitives import hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding

import jws

DAY_SECONDS = 86_400


def with_claims(change):
    """Right in signature and header; `change` takes the claims and gives those that differ (None: absent)."""

    def make(header, claims, key, stranger):
        changed = claims | change(claims)
        return jws.rs256(header, {name: value for name, value in changed.items() if value is not None}, key)

    return make


def with_header(**members):
    def make(header, claims, key, stranger):
        changed = {name: value for name, value in (header | members).items() if value is not None}
        return jws.rs256(changed, claims, key)

    return make


def moved(seconds):
    """A token of another time."""
    return with_claims(lambda claims: {name: claims[name] + seconds for name in ("iat", "exp")})


def of_stranger(header, claims, key, stranger):
    return jws.rs256(header, claims, stranger)


def bad_signature(header, claims, key, stranger):
    sign = lambda message: key.sign(message + b".", padding.PKCS1v15(), hashes.SHA256())
    return jws.compact(header, claims, sign)


def empty_signature(header, claims, key, stranger):
    return jws.compact(header, claims, lambda message: b"")


def pss_signature(header, claims, key, stranger):
    pss = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH)
    return jws.compact(header, claims, lambda message: key.sign(message, pss, hashes.SHA256()))


def rs512(header, claims, key, stranger):
    sign = lambda message: key.sign(message, padding.PKCS1v15(), hashes.SHA512())
    return jws.compact(header | {"alg": "RS512"}, claims, sign)


def es256(header, claims, key, stranger):
    return jws.es256(header | {"alg": "ES256"}, claims, ec.generate_private_key(ec.SECP256R1()))


def algorithm_none(header, claims, key, stranger):
    return jws.compact(header | {"alg": "none"}, claims, lambda message: b"")


def algorithm_hs256(header, claims, key, stranger):
    """The public key taken for the secret of an HMAC."""
    secret = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )

    def sign(message):
        code = hmac.HMAC(secret, hashes.SHA256())
        code.update(message)
        return code.finalize()

    return jws.compact(header | {"alg": "HS256"}, claims, sign)


def embedded_key(header, claims, key, stranger):
    """The other key in the header, as if a token could say who may sign it."""
    numbers = stranger.public_key().public_numbers()
    jwk = {"kty": "RSA", "n": jws.to_base64url(numbers.n.to_bytes(256, "big")), "e": "AQAB"}
    return jws.rs256(header | {"jwk": jwk}, claims, stranger)


def tampered(header, claims, key, stranger):
    first, _, third = jws.rs256(header, claims | {"email": "somebody@example.com"}, key).split(".")
    return f"{first}.{jws.to_base64url(jws.to_json(claims))}.{third}"


def repeated_claim(header, claims, key, stranger):
    return jws.rs256(header, jws.to_json(claims)[:-1] + b',"aud":"https://other.example"}', key)


def claims_not_json(header, claims, key, stranger):
    return jws.rs256(header, b"{", key)


def claims_not_object(header, claims, key, stranger):
    return jws.rs256(header, b'["aud"]', key)


def padded(header, claims, key, stranger):
    segments = jws.rs256(header, claims, key).split(".")
    return ".".join(segment + "=" * (-len(segment) % 4 or 4) for segment in segments)


def two_segments(header, claims, key, stranger):
    return jws.rs256(header, claims, key).rsplit(".", 1)[0]


def four_segments(header, claims, key, stranger):
    return jws.rs256(header, claims, key) + ".e30"


def oversized(header, claims, key, stranger):
    return jws.rs256(header, claims | {"filler": "x" * 100_000}, key)


# Name: what makes it, and what it is.
TOKEN_FAULTS = {
    "otherAudience": (with_claims(lambda claims: {"aud": "https://other.example/push"}), "another audience"),
    "audienceWithSlash": (with_claims(lambda claims: {"aud": claims["aud"] + "/"}), "the audience and a slash"),
    "noAudience": (with_claims(lambda claims: {"aud": None}), "no audience"),
    "otherEmail": (
        with_claims(lambda claims: {"email": "pubsub-push@other-project.iam.gserviceaccount.com"}),
        "the e-mail of another service account",
    ),
    "noEmail": (with_claims(lambda claims: {"email": None}), "no e-mail"),
    "unverifiedEmail": (with_claims(lambda claims: {"email_verified": False}), "the e-mail is not verified"),
    "noEmailVerified": (with_claims(lambda claims: {"email_verified": None}), "nothing says the e-mail is verified"),
    "emailVerifiedAsText": (with_claims(lambda claims: {"email_verified": "true"}), "email_verified is text"),
    "otherIssuer": (with_claims(lambda claims: {"iss": "https://accounts.example.com"}), "another issuer"),
    "noIssuer": (with_claims(lambda claims: {"iss": None}), "no issuer"),
    "expired": (moved(-2 * 3600), "it ended an hour ago"),
    "old": (moved(-30 * DAY_SECONDS), "it ended a month ago"),
    "issuedInFuture": (moved(3600), "it was issued in an hour"),
    "longLived": (with_claims(lambda claims: {"exp": claims["iat"] + DAY_SECONDS}), "it lives for a day"),
    "noExpiry": (with_claims(lambda claims: {"exp": None}), "no exp"),
    "noIssuedAt": (with_claims(lambda claims: {"iat": None}), "no iat"),
    "expiryAsText": (with_claims(lambda claims: {"exp": str(claims["exp"])}), "exp is text"),
    "expiryWithoutEnd": (with_claims(lambda claims: {"exp": 10**18}), "exp is far away"),
    "unknownKey": (with_header(kid="f" * 40), "kid names no key"),
    "noKeyID": (with_header(kid=None), "no kid"),
    "keyIDNotText": (with_header(kid=7), "kid is a number"),
    "criticalHeader": (with_header(crit=["unheardOf"], unheardOf=1), "an unknown critical header"),
    "noAlgorithm": (with_header(alg=None), "no alg"),
    "ofStranger": (of_stranger, "signed with another key under the right kid"),
    "embeddedKey": (embedded_key, "signed with another key, which the header shows"),
    "badSignature": (bad_signature, "the signature is of other bytes"),
    "emptySignature": (empty_signature, "the third segment is empty"),
    "pssSignature": (pss_signature, "a PSS signature under RS256"),
    "algorithmRS512": (rs512, "a right signature by RS512"),
    "algorithmES256": (es256, "alg ES256, by a stranger"),
    "algorithmNone": (algorithm_none, "alg none and no signature"),
    "algorithmHS256": (algorithm_hs256, "alg HS256 with the public key as the secret"),
    "tampered": (tampered, "the claims were changed after they were signed"),
    "repeatedClaim": (repeated_claim, "aud twice"),
    "claimsNotJSON": (claims_not_json, "the claims are not JSON"),
    "claimsNotObject": (claims_not_object, "the claims are a list"),
    "paddedSegments": (padded, "segments with padding"),
    "twoSegments": (two_segments, "no third segment"),
    "fourSegments": (four_segments, "a fourth segment"),
    "oversized": (oversized, "100 kB of claims"),
    "issuerWithoutScheme": (with_claims(lambda claims: {"iss": "accounts.google.com"}), "the issuer's other name"),
}
# Odd, yet a verifier that goes by Google's pages takes them.
ACCEPTABLE = {"issuerWithoutScheme"}
