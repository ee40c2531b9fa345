# SPDX-License-Identifier: Apache-2.0
"""A device with App Attest and the authority that vouches for it, written from Apple's guide and without our code."""
import base64
import datetime
import hashlib

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID

PRODUCTION, DEVELOPMENT = b"appattest" + bytes(7), b"appattestdevelop"


def sha256(data):
    return hashlib.sha256(data).digest()


def base64_text(data):
    return base64.b64encode(data).decode()


def point(key):
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


class Authority:
    """A root and an intermediate on P-384, as Apple's."""

    def __init__(self, name="Apple App Attestation Root CA"):
        self.root_key, self.key = ec.generate_private_key(ec.SECP384R1()), ec.generate_private_key(ec.SECP384R1())
        self.root_name, self.name = self.named(name), self.named("Apple App Attestation CA 1")
        self.root = self.certificate(self.root_name, self.root_key, self.root_name, self.root_key, authority=1)
        self.intermediate = self.certificate(self.name, self.key, self.root_name, self.root_key, authority=0)

    @staticmethod
    def named(text):
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    @staticmethod
    def certificate(name, key, issuer, issuer_key, authority=None, nonce=None, days=3):
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = (x509.CertificateBuilder().subject_name(name).issuer_name(issuer).public_key(key.public_key())
                   .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=7))
                   .not_valid_after(now + datetime.timedelta(days=days))
                   .add_extension(x509.BasicConstraints(authority is not None, authority), True)
                   .add_extension(x509.KeyUsage(authority is None, False, False, False, False, authority is not None,
                                                authority is not None, False, False), True))
        if nonce is not None:
            value = bytes.fromhex("3024a1220420") + nonce
            oid = x509.ObjectIdentifier("1.2.840.113635.100.8.2")
            builder = builder.add_extension(x509.UnrecognizedExtension(oid, value), False)
        return builder.sign(issuer_key, hashes.SHA384())

    def root_pem(self):
        return self.root.public_bytes(Encoding.PEM)


class Device:
    """An app with a key of its own; what is set differs from a genuine one of the App Store."""

    def __init__(self, authority, app_id, category=4, identifier=PRODUCTION):
        self.authority, self.app_id, self.category, self.identifier = authority, app_id, category, identifier
        self.key, self.counter = ec.generate_private_key(ec.SECP256R1()), 0

    @property
    def key_id(self):
        return base64_text(sha256(point(self.key)))

    def extensions(self):
        if self.category is None:
            return b""
        return cbor2.dumps({"apple_bundle_version_01": "1",
                            "apple_validation_category_01": self.category.to_bytes(4, "little")})

    def attestation(self, challenge, days=3, canonical=True):
        """What attestKey gives; the extensions stand there although the flag for them is clear, as on iOS 27."""
        coordinates = point(self.key)
        cose = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: coordinates[1:33], -3: coordinates[33:]})
        data = (sha256(self.app_id.encode()) + b"\x40" + bytes(4) + self.identifier + (32).to_bytes(2, "big")
                + sha256(coordinates) + cose + self.extensions())
        nonce = sha256(data + sha256(challenge.encode()))
        leaf = self.authority.certificate(self.authority.named(self.key_id), self.key, self.authority.name,
                                          self.authority.key, nonce=nonce, days=days)
        chain = [each.public_bytes(Encoding.DER) for each in (leaf, self.authority.intermediate)]
        made = {"fmt": "apple-appattest", "attStmt": {"x5c": chain, "receipt": b"receipt"}, "authData": data}
        encoded = cbor2.dumps(made)
        # The same map, of a length that is only known at its end.
        return encoded if canonical else b"\xbf" + encoded[1:] + b"\xff"

    def assertion(self, method, path, challenge, body, counter=None):
        """What generateAssertion gives, in Base64."""
        self.counter = self.counter + 1 if counter is None else counter
        data = sha256(self.app_id.encode()) + b"\x40" + self.counter.to_bytes(4, "big") + self.extensions()
        client = sha256(b"\n".join([method.encode(), path.encode(), challenge.encode(), sha256(body)]))
        signature = self.key.sign(sha256(data + client), ec.ECDSA(hashes.SHA256()))
        return base64_text(cbor2.dumps({"signature": signature, "authenticatorData": data}))
