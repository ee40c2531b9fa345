# SPDX-License-Identifier: Apache-2.0
"""Compact JWS (RFC 7515) with ES256 and RS256 (RFC 7518 sections 3.4 and 3.3)."""
import base64
import binascii
import json

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature


def to_base64url(data):
    """Without padding, as RFC 7515 has it."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text):
    """Refuses padding and characters of the other alphabet; raises ValueError."""
    if not text.isascii() or any(not (c.isalnum() or c in "-_") for c in text):
        raise ValueError("not base64url")
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error as error:
        raise ValueError("not base64url") from error


def to_json(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def apple_header(certificates, algorithm="ES256"):
    """The header of what the App Store signs: certificates in standard Base64."""
    return {"alg": algorithm, "x5c": [base64.b64encode(der).decode() for der in certificates]}


def raw_signature(key, message):
    """r and s, 32 bytes each (for a curve of another size: as many as it needs)."""
    size = (key.curve.key_size + 7) // 8
    r, s = decode_dss_signature(key.sign(message, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(size, "big") + s.to_bytes(size, "big")


def compact(header, payload, sign):
    """The three segments; `sign` makes the signature of the first two. Header and payload may be bytes."""
    first, second = (to_base64url(part if isinstance(part, bytes) else to_json(part)) for part in (header, payload))
    signing_input = f"{first}.{second}"
    return f"{signing_input}.{to_base64url(sign(signing_input.encode()))}"


def es256(header, payload, key):
    return compact(header, payload, lambda message: raw_signature(key, message))


def rs256(header, payload, key):
    return compact(header, payload, lambda message: key.sign(message, padding.PKCS1v15(), hashes.SHA256()))


def verify_rs256(text, public_key):
    """The header and the claims of a JWS with a right signature; raises ValueError or InvalidSignature."""
    first, second, third = text.split(".")
    public_key.verify(from_base64url(third), f"{first}.{second}".encode(), padding.PKCS1v15(), hashes.SHA256())
    return unverified_header(text), json.loads(from_base64url(second))


def verify_es256(text, public_key):
    """The header and the claims of a JWS with a right signature; raises ValueError or InvalidSignature."""
    first, second, third = text.split(".")
    signature = from_base64url(third)
    if len(signature) != 64:
        raise ValueError("the signature is not r and s of 32 bytes each")
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    public_key.verify(encode_dss_signature(r, s), f"{first}.{second}".encode(), ec.ECDSA(hashes.SHA256()))
    return unverified_header(text), json.loads(from_base64url(second))


def unverified_header(text):
    """The header of a JWS of three segments; raises ValueError."""
    segments = text.split(".")
    if len(segments) != 3:
        raise ValueError(f"{len(segments)} segments")
    header = json.loads(from_base64url(segments[0]))
    if not isinstance(header, dict):
        raise ValueError("the header is not an object")
    return header


def unverified_claims(text):
    """The claims of a JWS of three segments; raises ValueError."""
    claims = json.loads(from_base64url(text.split(".")[1]))
    if not isinstance(claims, dict):
        raise ValueError("the claims are not an object")
    return claims
