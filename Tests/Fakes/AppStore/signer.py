# SPDX-License-Identifier: Apache-2.0
"""Signs as the App Store does, or wrong in one way that has a name."""
import copy

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

import jws
from chain_faults import CHAIN_FAULTS
from payload_faults import PAYLOAD_FAULTS
from text_faults import TEXT_FAULTS

# Odd, yet a verifier that goes by the rules takes them.
ACCEPTABLE = {"otherThirdCertificate", "leafWithoutResponder"}


class UnknownFault(ValueError):
    pass


class Signer:
    """Signs payloads with the right chain, or with a fault."""

    def __init__(self, maker, chain):
        self.maker = maker
        self.chain = chain
        self._chains = {}

    def sign(self, payload, fault=None):
        """A compact JWS as the App Store makes it; `fault` is a name in one of the tables above."""
        payload = copy.deepcopy(payload)
        if fault in PAYLOAD_FAULTS:
            payload = PAYLOAD_FAULTS[fault][0](payload)
        ders, key = self._chain(fault)
        header = jws.apple_header(ders)
        if fault in TEXT_FAULTS:
            return TEXT_FAULTS[fault][0](header, payload, key)
        if fault == "leafOfRSA":
            return jws.compact(header, payload, lambda text: key.sign(text, padding.PKCS1v15(), hashes.SHA256()))
        return jws.es256(header, payload, key)

    def _chain(self, fault):
        if fault is not None and fault not in describe():
            raise UnknownFault(f"no fault {fault!r}; there are {', '.join(describe())}")
        if fault not in CHAIN_FAULTS:
            return self.chain.ders, self.chain.leaf.key
        if fault not in self._chains:
            self._chains[fault] = CHAIN_FAULTS[fault][0](self.maker, self.chain)
        return self._chains[fault]


def describe():
    """All faults and what they are."""
    tables = CHAIN_FAULTS | TEXT_FAULTS | PAYLOAD_FAULTS
    return {name: sentence for name, (_, sentence) in tables.items()}
