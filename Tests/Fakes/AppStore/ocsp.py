# SPDX-License-Identifier: Apache-2.0
"""An OCSP responder (RFC 6960) for the certificates that the fake has issued, which can also answer wrong."""
import base64
import binascii
import datetime
from dataclasses import dataclass
from urllib.parse import unquote

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509 import ocsp
from cryptography.x509.ocsp import OCSPCertStatus, OCSPResponseStatus

from messages import Answer

CONTENT_TYPE = "application/ocsp-response"
HOUR = datetime.timedelta(hours=1)


@dataclass(frozen=True)
class Behaviour:
    """What one answer says; `begins` and `ends` are in hours from now."""

    status: OCSPCertStatus = OCSPCertStatus.GOOD
    begins: float = -1
    ends: float | None = 11
    # "issuer", "delegate", "delegateWithoutUsage" or "stranger".
    signer: str = "issuer"
    about_other_certificate: bool = False
    nonce: str = "same"
    # An answer without any content, instead.
    failure: OCSPResponseStatus | None = None


BEHAVIOURS = {
    "good": Behaviour(),
    "revoked": Behaviour(OCSPCertStatus.REVOKED),
    "unknown": Behaviour(OCSPCertStatus.UNKNOWN),
    "stale": Behaviour(begins=-48, ends=-24),
    "future": Behaviour(begins=24, ends=48),
    "withoutEnd": Behaviour(ends=None),
    "oldWithoutEnd": Behaviour(begins=-24 * 400, ends=None),
    "delegated": Behaviour(signer="delegate"),
    "delegatedWithoutUsage": Behaviour(signer="delegateWithoutUsage"),
    "signedByStranger": Behaviour(signer="stranger"),
    "otherCertificate": Behaviour(about_other_certificate=True),
    "withoutNonce": Behaviour(nonce="none"),
    "otherNonce": Behaviour(nonce="other"),
    "tryLater": Behaviour(failure=OCSPResponseStatus.TRY_LATER),
    "internalError": Behaviour(failure=OCSPResponseStatus.INTERNAL_ERROR),
    "unauthorized": Behaviour(failure=OCSPResponseStatus.UNAUTHORIZED),
    # Not an OCSP answer at all.
    "malformed": None,
}


class Responder:
    """Answers for leaf and intermediate; a test can set the behavior of each."""

    def __init__(self, maker, chain):
        self._maker = maker
        self._chain = chain
        self._chosen = {}
        self._signers = {}

    def choose(self, certificate, behaviour):
        """Sets how it answers about "leaf", "intermediate" or, as "*", about any certificate."""
        if behaviour not in BEHAVIOURS:
            raise ValueError(f"no OCSP behaviour {behaviour!r}; there are {', '.join(BEHAVIOURS)}")
        if certificate == "*":
            self._chosen.clear()
        self._chosen[certificate] = behaviour

    def answer(self, request):
        """Takes POST, and GET with the request as the last segment (RFC 6960 appendix A.1)."""
        try:
            der = request.body if request.method == "POST" else base64.b64decode(unquote(request.path.split("/", 3)[3]))
            asked = ocsp.load_der_ocsp_request(der)
        except (ValueError, IndexError, binascii.Error):
            return _without_content(OCSPResponseStatus.MALFORMED_REQUEST)
        subject = self._maker.issued.get(asked.serial_number)
        if subject is None or subject.issuer is None:
            return _without_content(OCSPResponseStatus.UNAUTHORIZED)
        behaviour = BEHAVIOURS[self._behaviour(subject)]
        if behaviour is None:
            return Answer(200, b"this is not DER", CONTENT_TYPE)
        if behaviour.failure:
            return _without_content(behaviour.failure)
        return self._content(behaviour, subject, asked)

    def _behaviour(self, subject):
        serial = subject.certificate.serial_number
        is_leaf = serial == self._chain.leaf.certificate.serial_number
        is_intermediate = serial == self._chain.intermediate.certificate.serial_number
        name = "leaf" if is_leaf else "intermediate" if is_intermediate else "other"
        return self._chosen.get(name, self._chosen.get("*", "good"))

    def _content(self, behaviour, subject, asked):
        now = datetime.datetime.utcnow().replace(microsecond=0)
        is_revoked = behaviour.status == OCSPCertStatus.REVOKED
        about = subject
        if behaviour.about_other_certificate:
            about = self._maker.leaf(subject.issuer)
        builder = ocsp.OCSPResponseBuilder().add_response(
            cert=about.certificate,
            issuer=subject.issuer.certificate,
            algorithm=asked.hash_algorithm,
            cert_status=behaviour.status,
            this_update=now + behaviour.begins * HOUR,
            next_update=None if behaviour.ends is None else now + behaviour.ends * HOUR,
            revocation_time=now - 24 * HOUR if is_revoked else None,
            revocation_reason=x509.ReasonFlags.key_compromise if is_revoked else None,
        )
        signer = self._signer(behaviour.signer, subject.issuer)
        builder = builder.responder_id(ocsp.OCSPResponderEncoding.HASH, signer.certificate)
        if signer is not subject.issuer:
            builder = builder.certificates([signer.certificate])
        builder = _with_nonce(builder, behaviour.nonce, asked)
        response = builder.sign(signer.key, hashes.SHA256())
        return Answer(200, response.public_bytes(serialization.Encoding.DER), CONTENT_TYPE)

    def _signer(self, kind, issuer):
        if kind == "issuer":
            return issuer
        key = (kind, issuer.certificate.serial_number)
        if key not in self._signers:
            authority = self._maker.root("Stranger") if kind == "stranger" else issuer
            may_sign = kind != "delegateWithoutUsage"
            self._signers[key] = self._maker.ocsp_signer(authority, may_sign)
        return self._signers[key]


def _with_nonce(builder, kind, asked):
    try:
        nonce = asked.extensions.get_extension_for_class(x509.OCSPNonce).value
    except x509.ExtensionNotFound:
        return builder
    if kind == "none":
        return builder
    return builder.add_extension(nonce if kind == "same" else x509.OCSPNonce(b"another nonce!!!"), critical=False)


def _without_content(status):
    response = ocsp.OCSPResponseBuilder.build_unsuccessful(status)
    return Answer(200, response.public_bytes(serialization.Encoding.DER), CONTENT_TYPE)
