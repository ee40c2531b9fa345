# SPDX-License-Identifier: Apache-2.0
"""Checks signed data as the App Store's clients must: the chain with the openssl command, the signature with PyJWT.

Usage: signed_data.py ROOT.pem <lines of `NAME JWS`, the JWS as a JSON string
Prints JSON: by name, {"payload": …} for what is right and {"refused": why} for what is not.
"""
import base64
import json
import os
import re
import subprocess
import sys
import tempfile

import jwt
from cryptography import x509

INTERMEDIATE_MARKER = "1.2.840.113635.100.6.2.1"
LEAF_MARKER = "1.2.840.113635.100.6.11.1"


def check(text, root):
    """The payload of signed data; raises ValueError or an error of PyJWT for what is wrong."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", text, re.ASCII):
        raise ValueError("not three segments in base64url")
    for segment in text.split("."):
        decoded = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
        if base64.urlsafe_b64encode(decoded).rstrip(b"=").decode() != segment:
            raise ValueError("a segment is not canonical")
    header = json.loads(jwt.utils.base64url_decode(text.split(".")[0]), object_pairs_hook=without_repeats)
    if not isinstance(header.get("x5c"), list) or len(header["x5c"]) != 3:
        raise ValueError("not three certificates")
    if "crit" in header:
        raise ValueError("a critical member of the header")
    leaf, intermediate, _ = [base64.b64decode(certificate, validate=True) for certificate in header["x5c"]]
    verify_chain(leaf, intermediate, root)
    require_marker(intermediate, INTERMEDIATE_MARKER)
    require_marker(leaf, LEAF_MARKER)
    key = x509.load_der_x509_certificate(leaf).public_key()
    if getattr(getattr(key, "curve", None), "name", "") != "secp256r1":
        raise ValueError("the leaf's key is not on P-256")
    return jwt.decode(text, key, algorithms=["ES256"], options={"verify_exp": False, "verify_aud": False})


def verify_chain(leaf, intermediate, root):
    """By `openssl verify`, strictly, to our root and nothing of the system's."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("leaf", "intermediate")]
        for path, der in zip(paths, (leaf, intermediate)):
            with open(path, "w", encoding="ascii") as file:
                lines = base64.encodebytes(der).decode()
                file.write(f"-----BEGIN CERTIFICATE-----\n{lines}-----END CERTIFICATE-----\n")
        command = ["openssl", "verify", "-x509_strict", "-no-CApath", "-no-CAstore", "-CAfile", root]
        outcome = subprocess.run(
            [*command, "-untrusted", paths[1], "-show_chain", paths[0]], capture_output=True, text=True, check=False
        )
    if outcome.returncode != 0:
        raise ValueError(f"openssl verify: {outcome.stderr.strip()}")
    if outcome.stdout.count("depth=") != 3:
        raise ValueError("the intermediate is not between leaf and root")


def require_marker(der, identifier):
    certificate = x509.load_der_x509_certificate(der)
    if certificate.public_bytes(x509.base.serialization.Encoding.DER) != der:
        raise ValueError("bytes after the certificate")
    if identifier not in [extension.oid.dotted_string for extension in certificate.extensions]:
        raise ValueError(f"no extension {identifier}")


def without_repeats(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a member is there twice")
    return dict(pairs)


def verdict(text, root):
    try:
        return {"payload": check(text, root)}
    except (ValueError, TypeError, RecursionError, jwt.PyJWTError) as error:
        return {"refused": f"{type(error).__name__}: {error}"}


verdicts = {}
for line in sys.stdin:
    name, _, quoted = line.partition(" ")
    verdicts[name] = verdict(json.loads(quoted), sys.argv[1])
print(json.dumps(verdicts))
