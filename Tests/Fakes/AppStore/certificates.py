# SPDX-License-Identifier: Apache-2.0
"""Certificates made at run time: the chain that signs, shaped like Apple's, and the one for TLS."""
import datetime
import ipaddress
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID, NameOID

# What Apple marks the certificates with that may sign for the App Store.
INTERMEDIATE_MARKER = x509.ObjectIdentifier("1.2.840.113635.100.6.2.1")
LEAF_MARKER = x509.ObjectIdentifier("1.2.840.113635.100.6.11.1")
POLICY = x509.ObjectIdentifier("1.2.840.113635.100.5.6.1")
DER_NULL = b"\x05\x00"

DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Identity:
    """A certificate, its private key, and whose key signed it (None: its own)."""

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


@dataclass(frozen=True)
class Chain:
    """What an `x5c` header carries."""

    leaf: Identity
    intermediate: Identity
    root: Identity

    @property
    def ders(self):
        return [self.leaf.der, self.intermediate.der, self.root.der]


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
    """As long as Apple's, so that signed data is about as long as Apple's."""
    parts = [
        (NameOID.COMMON_NAME, name),
        (NameOID.ORGANIZATIONAL_UNIT_NAME, "Fake Certification Authority"),
        (NameOID.ORGANIZATION_NAME, "Fake Apple Inc."),
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


def marker(identifier):
    return (x509.UnrecognizedExtension(identifier, DER_NULL), False)


def responder(url):
    """Where to ask by OCSP whether the certificate is revoked."""
    location = x509.UniformResourceIdentifier(url)
    return (
        x509.AuthorityInformationAccess([x509.AccessDescription(AuthorityInformationAccessOID.OCSP, location)]),
        False,
    )


def policy():
    """A policy with a notice, which makes up a third of Apple's leaf certificate."""
    notice = (
        "This certificate was made for a test and is trusted by nobody but that test. Whoever finds it anywhere else "
        "may be sure that something went wrong, and should look for a setting that names another trust anchor than "
        "the one that ships with the service. It is as long as this to be as long as a real one."
    )
    information = x509.PolicyInformation(POLICY, [x509.UserNotice(None, notice), "http://127.0.0.1/policy"])
    return (x509.CertificatePolicies([information]), False)


class CertificateMaker:
    """Makes chains of the shape of Apple's, and on request ones that are wrong in a single way."""

    def __init__(self, ocsp_url):
        self.ocsp_url = ocsp_url
        # Each certificate a responder may be asked about, by its serial number.
        self.issued = {}

    def root(self, name="Fake Apple Root CA - G3", valid_days=(-3650, 3650)):
        return self._remember(make_identity(name, p384(), authority_extensions(), valid_days=valid_days))

    def intermediate(self, root, is_marked=True, is_authority=True, valid_days=(-365, 1825)):
        extensions = authority_extensions(path_length=0) if is_authority else end_entity_extensions()
        extensions.append(responder(f"{self.ocsp_url}/root"))
        if is_marked:
            extensions.append(marker(INTERMEDIATE_MARKER))
        name = "Fake Apple Worldwide Developer Relations Certification Authority"
        return self._remember(make_identity(name, p384(), extensions, root, valid_days))

    def leaf(self, intermediate, is_marked=True, key=None, valid_days=(-30, 365), has_responder=True):
        extensions = end_entity_extensions() + [policy()]
        if has_responder:
            extensions.append(responder(f"{self.ocsp_url}/intermediate"))
        if is_marked:
            extensions.append(marker(LEAF_MARKER))
        name = "Fake Prod ECC Mac App Store and iTunes Store Receipt Signing"
        return self._remember(make_identity(name, key or p256(), extensions, intermediate, valid_days))

    def chain(self, root=None):
        root = root or self.root()
        intermediate = self.intermediate(root)
        return Chain(self.leaf(intermediate), intermediate, root)

    def ocsp_signer(self, issuer, may_sign=True):
        """A responder's own certificate, issued by the authority it speaks for."""
        extensions = end_entity_extensions()
        if may_sign:
            extensions.append((x509.ExtendedKeyUsage([ExtendedKeyUsageOID.OCSP_SIGNING]), False))
            extensions.append((x509.OCSPNoCheck(), False))
        return make_identity("Fake OCSP Responder", p256(), extensions, issuer)

    def _remember(self, identity):
        self.issued[identity.certificate.serial_number] = identity
        return identity


def tls_authority():
    return make_identity("Throw-away TLS CA", p256(), authority_extensions())


def tls_identity(authority, address="127.0.0.1", host="localhost", valid_days=(-1, 30)):
    """A server certificate for an address and a name."""
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address)), x509.DNSName(host)])
    extensions = end_entity_extensions() + [
        (names, False),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
    ]
    return make_identity("Fake App Store", p256(), extensions, authority, valid_days)
