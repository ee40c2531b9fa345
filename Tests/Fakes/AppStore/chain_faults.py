# SPDX-License-Identifier: Apache-2.0
"""Chains that are wrong in one way. Each function takes the maker of certificates and the right chain, and returns the
certificates of `x5c` in DER and the key that signs."""
import certificates
import identities


def other_root(maker, right):
    chain = maker.chain()
    return chain.ders, chain.leaf.key


def other_root_shown_as_ours(maker, right):
    chain = maker.chain()
    return [chain.leaf.der, chain.intermediate.der, right.root.der], chain.leaf.key


def other_intermediate_key(maker, right):
    chain = maker.chain()
    return [chain.leaf.der, right.intermediate.der, right.root.der], chain.leaf.key


def wrong_chain(maker, right):
    other = maker.intermediate(right.root)
    return [right.leaf.der, other.der, right.root.der], right.leaf.key


def expired_leaf(maker, right):
    return _with_leaf(right, maker.leaf(right.intermediate, valid_days=(-400, -2)))


def leaf_not_yet_valid(maker, right):
    return _with_leaf(right, maker.leaf(right.intermediate, valid_days=(2, 400)))


def leaf_without_marker(maker, right):
    return _with_leaf(right, maker.leaf(right.intermediate, is_marked=False))


def leaf_of_p384(maker, right):
    return _with_leaf(right, maker.leaf(right.intermediate, key=identities.p384()))


def leaf_of_rsa(maker, right):
    return _with_leaf(right, maker.leaf(right.intermediate, key=identities.rsa2048()))


def leaf_without_responder(maker, right):
    return _with_leaf(right, maker.leaf(right.intermediate, has_responder=False))


def leaf_from_root(maker, right):
    leaf = maker.leaf(right.root)
    return [leaf.der, right.intermediate.der, right.root.der], leaf.key


def leaf_from_leaf(maker, right):
    leaf = maker.leaf(right.leaf)
    return [leaf.der, right.leaf.der, right.intermediate.der], leaf.key


def self_signed_leaf(maker, right):
    extensions = identities.end_entity_extensions() + [certificates.marker(certificates.LEAF_MARKER)]
    leaf = identities.make_identity("Self-signed", identities.p256(), extensions)
    return [leaf.der, right.intermediate.der, right.root.der], leaf.key


def expired_intermediate(maker, right):
    return _with_intermediate(maker, right, valid_days=(-400, -2))


def intermediate_without_marker(maker, right):
    return _with_intermediate(maker, right, is_marked=False)


def intermediate_not_authority(maker, right):
    return _with_intermediate(maker, right, is_authority=False)


def two_certificates(maker, right):
    return right.ders[:2], right.leaf.key


def four_certificates(maker, right):
    return right.ders + [right.root.der], right.leaf.key


def leaf_alone(maker, right):
    return right.ders[:1], right.leaf.key


def certificates_reversed(maker, right):
    return right.ders[::-1], right.leaf.key


def certificate_not_der(maker, right):
    return [b"\x30\x03abc", right.intermediate.der, right.root.der], right.leaf.key


def certificate_with_trailing_bytes(maker, right):
    return [right.leaf.der + b"\x00", right.intermediate.der, right.root.der], right.leaf.key


def other_third_certificate(maker, right):
    """A verifier uses its own root, never the third certificate (Apple's own test data has another there)."""
    same_key = identities.make_identity("Another name", right.root.key, identities.authority_extensions())
    return [right.leaf.der, right.intermediate.der, same_key.der], right.leaf.key


def _with_leaf(right, leaf):
    return [leaf.der, right.intermediate.der, right.root.der], leaf.key


def _with_intermediate(maker, right, **options):
    intermediate = maker.intermediate(right.root, **options)
    leaf = maker.leaf(intermediate)
    return [leaf.der, intermediate.der, right.root.der], leaf.key


CHAIN_FAULTS = {
    "otherRoot": (other_root, "a whole chain of another root, of the same names"),
    "otherRootShownAsOurs": (other_root_shown_as_ours, "another root's chain with our root as the third certificate"),
    "wrongChain": (wrong_chain, "a leaf beside an intermediate that did not issue it"),
    "otherIntermediateKey": (other_intermediate_key, "another root's leaf beside our intermediate"),
    "expiredLeaf": (expired_leaf, "the leaf ended two days ago"),
    "leafNotYetValid": (leaf_not_yet_valid, "the leaf begins in two days"),
    "leafWithoutMarker": (leaf_without_marker, "the leaf lacks 1.2.840.113635.100.6.11.1"),
    "leafOfP384": (leaf_of_p384, "the leaf's key is on P-384"),
    "leafOfRSA": (leaf_of_rsa, "the leaf's key is RSA, the signature RS256 under ES256's name"),
    "leafFromRoot": (leaf_from_root, "the root issued the leaf; the intermediate is idle"),
    "leafFromLeaf": (leaf_from_leaf, "a leaf issued by a leaf"),
    "selfSignedLeaf": (self_signed_leaf, "the leaf signed itself"),
    "expiredIntermediate": (expired_intermediate, "the intermediate ended two days ago"),
    "intermediateWithoutMarker": (intermediate_without_marker, "the intermediate lacks 1.2.840.113635.100.6.2.1"),
    "intermediateNotAuthority": (intermediate_not_authority, "the intermediate has CA:FALSE"),
    "twoCertificates": (two_certificates, "x5c without the root"),
    "fourCertificates": (four_certificates, "x5c with the root twice"),
    "leafAlone": (leaf_alone, "x5c with the leaf alone"),
    "certificatesReversed": (certificates_reversed, "x5c from root to leaf"),
    "certificateNotDER": (certificate_not_der, "the first certificate is no DER"),
    "certificateWithTrailingBytes": (certificate_with_trailing_bytes, "a byte after the leaf's DER"),
    "otherThirdCertificate": (other_third_certificate, "the third certificate is another one of the root's key"),
    "leafWithoutResponder": (leaf_without_responder, "the leaf names no OCSP responder"),
}
