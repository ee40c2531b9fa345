# SPDX-License-Identifier: Apache-2.0
"""The chain that signs, shaped like Apple's, made at run time."""
from dataclasses import dataclass

from cryptography import x509
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID

from identities import Identity, authority_extensions, end_entity_extensions, make_identity, p256, p384

# What Apple marks the certificates with that may sign for the App Store.
INTERMEDIATE_MARKER = x509.ObjectIdentifier("1.2.840.113635.100.6.2.1")
LEAF_MARKER = x509.ObjectIdentifier("1.2.840.113635.100.6.11.1")
POLICY = x509.ObjectIdentifier("1.2.840.113635.100.5.6.1")
DER_NULL = b"\x05\x00"


@dataclass(frozen=True)
class Chain:
    """What an `x5c` header carries."""

    leaf: Identity
    intermediate: Identity
    root: Identity

    @property
    def ders(self):
        return [self.leaf.der, self.intermediate.der, self.root.der]


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
        "This certificate was made for a test and is trusted by that test alone. If you find it anywhere else, "
        "something went wrong: look for a setting that names a different trust anchor than "
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
