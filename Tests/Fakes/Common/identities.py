# SPDX-License-Identifier: Apache-2.0
"""Certificates made at run time, with their keys: in general, and those for TLS."""
import datetime
import ipaddress
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = datetime.timedelta(days=1)
TLS_CERTIFICATES = ("good", "otherAuthority", "otherAddress", "expired")


@dataclass(frozen=True)
class Identity:
    """A certificate, its private key, and the identity that signed it (None: itself)."""

    certificate: x509.Certificate
    key: object
    issuer: "Identity | None" = None

    @property
    def der(self):
        return self.certificate.public_bytes(serialization.Encoding.DER)

    @property
    def pem(self):
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self):
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


def p256():
    return ec.generate_private_key(ec.SECP256R1())


def p384():
    return ec.generate_private_key(ec.SECP384R1())


def rsa2048():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def now():
    return datetime.datetime.utcnow().replace(microsecond=0)


def make_identity(name, key, extensions, issuer=None, valid_days=(-1, 365)):
    """A certificate with the extensions, given as (extension, is critical), besides both key identifiers."""
    subject = distinguished_name(name)
    signer = issuer.key if issuer else key
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now() + valid_days[0] * DAY)
        .not_valid_after(now() + valid_days[1] * DAY)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if issuer:
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key())
        builder = builder.add_extension(authority, critical=False)
    for extension, is_critical in extensions:
        builder = builder.add_extension(extension, critical=is_critical)
    return Identity(builder.sign(signer, hash_for(signer)), key, issuer)


def distinguished_name(name):
    """As long as Apple's, so that what Apple's fake signs is about as long as what Apple signs."""
    parts = [
        (NameOID.COMMON_NAME, name),
        (NameOID.ORGANIZATIONAL_UNIT_NAME, "Fake Certification Authority"),
        (NameOID.ORGANIZATION_NAME, "Fake Store Inc."),
        (NameOID.COUNTRY_NAME, "US"),
    ]
    return x509.Name([x509.NameAttribute(identifier, value) for identifier, value in parts])


def hash_for(key):
    """SHA-384 for P-384 as Apple does, SHA-256 otherwise."""
    is_p384 = isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name == "secp384r1"
    return hashes.SHA384() if is_p384 else hashes.SHA256()


def usage(**allowed):
    """A KeyUsage that allows only what is named."""
    names = [
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    ]
    return x509.KeyUsage(**{name: allowed.get(name, False) for name in names})


def authority_extensions(path_length=None):
    return [
        (x509.BasicConstraints(ca=True, path_length=path_length), True),
        (usage(key_cert_sign=True, crl_sign=True), True),
    ]


def end_entity_extensions():
    return [(x509.BasicConstraints(ca=False, path_length=None), True), (usage(digital_signature=True), True)]


def tls_authority():
    return make_identity("Throw-away TLS CA", p256(), authority_extensions())


def tls_identity(authority, address="127.0.0.1", host="localhost", valid_days=(-1, 30)):
    """A server certificate for an address and a name."""
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address)), x509.DNSName(host)])
    extensions = end_entity_extensions() + [
        (names, False),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
    ]
    return make_identity("Fake Store", p256(), extensions, authority, valid_days)


def tls_identity_named(kind, authority):
    """A server certificate as one of TLS_CERTIFICATES names it; raises ValueError."""
    match kind:
        case "good":
            return tls_identity(authority)
        case "otherAuthority":
            return tls_identity(tls_authority())
        case "otherAddress":
            return tls_identity(authority, "127.0.0.2", "other.example")
        case "expired":
            return tls_identity(authority, valid_days=(-30, -1))
    raise ValueError(f"no certificate {kind!r}; there are {', '.join(TLS_CERTIFICATES)}")
