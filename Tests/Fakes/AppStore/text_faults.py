# SPDX-License-Identifier: Apache-2.0
"""JWS whose text is wrong in one way. Each function takes header, payload and the right key, and returns the JWS."""
import base64
import json

from cryptography.hazmat.primitives import hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import identities
import jws


def bad_signature(header, payload, key):
    return jws.compact(header, payload, lambda message: jws.raw_signature(key, message + b"."))


def zero_signature(header, payload, key):
    return jws.compact(header, payload, lambda message: bytes(64))


def empty_signature(header, payload, key):
    return jws.compact(header, payload, lambda message: b"")


def der_signature(header, payload, key):
    return jws.compact(header, payload, lambda message: key.sign(message, ec.ECDSA(hashes.SHA256())))


def short_signature(header, payload, key):
    return jws.compact(header, payload, lambda message: jws.raw_signature(key, message)[:63])


def tampered_payload(header, payload, key):
    first, second, third = jws.es256(header, payload, key).split(".")
    changed = json.loads(jws.from_base64url(second))
    changed["productId"] = "com.example.tampered"
    return f"{first}.{jws.to_base64url(jws.to_json(changed))}.{third}"


def tampered_header(header, payload, key):
    first, second, third = jws.es256(header, payload, key).split(".")
    return f"{jws.to_base64url(jws.to_json(header | {'kid': 'tampered'}))}.{second}.{third}"


def algorithm_none(header, payload, key):
    return jws.compact(header | {"alg": "none"}, payload, lambda message: b"")


def algorithm_hs256(header, payload, key):
    """The public key taken for the secret of an HMAC."""
    secret = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )

    def sign(message):
        code = hmac.HMAC(secret, hashes.SHA256())
        code.update(message)
        return code.finalize()

    return jws.compact(header | {"alg": "HS256"}, payload, sign)


def algorithm_named(name):
    return lambda header, payload, key: jws.es256(header | {"alg": name}, payload, key)


def no_algorithm(header, payload, key):
    return jws.es256({"x5c": header["x5c"]}, payload, key)


def no_certificates(header, payload, key):
    return jws.es256({"alg": "ES256"}, payload, key)


def critical_header(header, payload, key):
    return jws.es256(header | {"crit": ["unheardOf"], "unheardOf": 1}, payload, key)


def repeated_header_member(header, payload, key):
    text = jws.to_json(header)[:-1] + b',"alg":"none"}'
    return jws.es256(text, payload, key)


def base64url_certificates(header, payload, key):
    changed = [base64.urlsafe_b64encode(base64.b64decode(text)).decode().rstrip("=") for text in header["x5c"]]
    return jws.es256(header | {"x5c": changed}, payload, key)


def certificate_not_base64(header, payload, key):
    return jws.es256(header | {"x5c": ["*not base64*"] + header["x5c"][1:]}, payload, key)


def padded_segments(header, payload, key):
    segments = jws.es256(header, payload, key).split(".")
    return ".".join(segment + "=" * (-len(segment) % 4 or 4) for segment in segments)


def loose_last_bits(header, payload, key):
    """The signature's last character has bits that decode to nothing: same bytes, another text."""
    text = jws.es256(header, payload, key)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return text[:-1] + alphabet[alphabet.index(text[-1]) + 1]


def four_segments(header, payload, key):
    return jws.es256(header, payload, key) + ".e30"


def two_segments(header, payload, key):
    return jws.es256(header, payload, key).rsplit(".", 1)[0]


def line_end(header, payload, key):
    return jws.es256(header, payload, key) + "\n"


def xcode_certificate(header, payload, key):
    """What Xcode's StoreKit testing makes: one self-signed certificate, and the environment Xcode."""
    identity = identities.make_identity(
        "StoreKit Testing in Xcode", identities.p256(), identities.authority_extensions()
    )
    return jws.es256(jws.apple_header([identity.der]), payload | {"environment": "Xcode"}, identity.key)


TEXT_FAULTS = {
    "badSignature": (bad_signature, "the signature is of other bytes"),
    "zeroSignature": (zero_signature, "r and s are 0"),
    "emptySignature": (empty_signature, "the third segment is empty"),
    "derSignature": (der_signature, "the signature is in DER instead of r and s"),
    "shortSignature": (short_signature, "the signature lacks its last byte"),
    "tampered": (tampered_payload, "the payload was changed after it was signed"),
    "tamperedHeader": (tampered_header, "the header was changed after it was signed"),
    "algorithmNone": (algorithm_none, "alg none and no signature"),
    "algorithmHS256": (algorithm_hs256, "alg HS256 with the leaf's public key as the secret"),
    "algorithmRS256": (algorithm_named("RS256"), "alg RS256 over an ES256 signature"),
    "algorithmES384": (algorithm_named("ES384"), "alg ES384 over an ES256 signature"),
    "noAlgorithm": (no_algorithm, "no alg"),
    "noCertificates": (no_certificates, "no x5c"),
    "criticalHeader": (critical_header, "an unknown critical header"),
    "repeatedHeaderMember": (repeated_header_member, "alg twice in the header"),
    "base64urlCertificates": (base64url_certificates, "x5c in base64url"),
    "certificateNotBase64": (certificate_not_base64, "the first certificate is no Base64"),
    "paddedSegments": (padded_segments, "segments with padding"),
    "looseLastBits": (loose_last_bits, "the signature's last character has loose bits set"),
    "fourSegments": (four_segments, "a fourth segment"),
    "twoSegments": (two_segments, "no third segment"),
    "lineEnd": (line_end, "a line end after the JWS"),
    "xcodeCertificate": (xcode_certificate, "as Xcode's StoreKit testing signs"),
}
