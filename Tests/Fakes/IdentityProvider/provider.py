# SPDX-License-Identifier: Apache-2.0
"""What the fake identity provider is: its keys, its tokens, and how it misbehaves."""
import base64
import collections
import functools
import hashlib
import hmac
import json
import threading

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value, length):
    return b64(value.to_bytes(length, "big"))


KEYS_LOCK = threading.Lock()


def private_key(name):
    """The key of that name, the same for every provider of a process: es…, rs… (RS256), ps… (PS256) or ed…."""
    # Who publishes it and who signs with it may ask at the same time.
    with KEYS_LOCK:
        return made_key(name)


@functools.cache
def made_key(name):
    if name.startswith("es384"):
        return ec.generate_private_key(ec.SECP384R1())
    if name.startswith("es"):
        return ec.generate_private_key(ec.SECP256R1())
    if name.startswith("ed"):
        return ed25519.Ed25519PrivateKey.generate()
    sizes = {"small": 1024, "large": 4096, "huge": 4104}
    return rsa.generate_private_key(65537, sizes.get(name.rpartition("-")[2], 2048))


def jwk(name):
    key = private_key(name).public_key()
    members = {"kid": name, "use": "sig"}
    if name.startswith("ed"):
        return members | {"kty": "OKP", "crv": "Ed25519", "x": b64(key.public_bytes(Encoding.Raw, PublicFormat.Raw))}
    numbers = key.public_numbers()
    if name.startswith("es"):
        size, curve = (48, "P-384") if name.startswith("es384") else (32, "P-256")
        return members | {"kty": "EC", "crv": curve, "x": number(numbers.x, size), "y": number(numbers.y, size)}
    return members | {"kty": "RSA", "n": number(numbers.n, key.key_size // 8), "e": "AQAB"}


def signature(name, data, form):
    """Signs with that key; `form` names the algorithm, or a wrong way to sign."""
    key = private_key(name)
    if form == "none":
        return b""
    if form == "HS256":
        # The public key is the secret: a verifier that trusts the header would verify with it.
        secret = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return hmac.new(secret, data, "sha256").digest()
    if name.startswith("ed"):
        return key.sign(data)
    if name.startswith("es"):
        der = key.sign(data, ec.ECDSA(hashes.SHA256()))
        r, s = decode_dss_signature(der)
        size = 48 if name.startswith("es384") else 32
        if form == "DER":
            return der
        if form == "zero":
            return bytes(2 * size)
        return r.to_bytes(size, "big") + s.to_bytes(size, "big")
    if form == "PS256":
        return key.sign(data, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())
    if form == "PS256-short-salt":
        return key.sign(data, padding.PSS(padding.MGF1(hashes.SHA256()), 0), hashes.SHA256())
    return key.sign(data, padding.PKCS1v15(), hashes.SHA256())


class Provider:
    def __init__(self, issuer):
        self.issuer = issuer
        self.mode = "good"
        self.delay = 0
        self.cache_control = None
        self.keys_path = "/jwks"
        self.discovers = True
        self.published = ["es1"]
        self.extra = []
        # Of the discovery document, beside or in place of its own; without a value, the member is left out.
        self.members = {}
        self.codes, self.asked, self.reuses = {}, [], False
        self.ended = threading.Event()
        # Readings of the keys go on while it is set.
        self.gate = threading.Event()
        self.gate.set()
        self._counts = collections.Counter()
        self._lock = threading.Lock()

    def count(self, path):
        with self._lock:
            self._counts[path] += 1

    def discovery(self, mode):
        issuer = "https://other.example" if mode == "otherIssuer" else self.issuer
        url = {"plainJWKS": "http://other.example/jwks", "noJWKS": None}.get(mode, f"{self.issuer}{self.keys_path}")
        document = {"issuer": issuer, "token_endpoint": f"{self.issuer}/token",
                    "authorization_endpoint": f"{self.issuer}/authorize", "end_session_endpoint": f"{self.issuer}/logout",
                    "code_challenge_methods_supported": ["S256"], "response_types_supported": ["code"]}
        document |= ({"jwks_uri": url} if url else {}) | self.members
        return {name: value for name, value in document.items() if value is not None}

    def exchange(self, form, authorization):
        """The token endpoint: what was asked is kept, and the answer is the one that was set for the code."""
        with self._lock:
            self.asked.append(form | {"authorization": authorization or ""})
            code = self.codes.get(form.get("code"))
            if code is None:
                return 400, {"error": "invalid_grant"}
            if not self.reuses:
                del self.codes[form["code"]]
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if code["challenge"] and b64(digest) != code["challenge"]:
            return 400, {"error": "invalid_grant", "error_description": "PKCE"}
        return code["status"], json.loads(code["answer"])

    def key_set(self, mode):
        keys = [jwk(name) for name in self.published] + self.extra
        if mode == "repeated":
            keys += keys
        if mode == "many":
            keys = [keys[0] | {"kid": f"many{place}"} for place in range(33)]
        return json.dumps({"keys": keys}).encode()

    @staticmethod
    def entity_tag(body):
        return f'"{hashlib.sha256(body).hexdigest()[:16]}"'

    # What control calls do.

    def control_behave(self, mode="good", delay=0, cacheControl=None):
        if self.mode == "hang" and mode != "hang":
            self.ended.set()
            self.ended = threading.Event()
        self.mode, self.delay, self.cache_control = mode, delay, cacheControl
        return {}

    def control_hold(self, release=False):
        """Holds each reading of the keys from now on; with `release`, those that are held go on."""
        if release:
            self.gate.set()
        self.gate.clear()
        return {}

    def control_release(self):
        """Ends what `hold` began."""
        self.gate.set()
        return {}

    def control_move(self, path=None):
        """Publishes the keys at another path alone; without one the discovery document can't be read any more."""
        self.keys_path, self.discovers = path or self.keys_path, path is not None
        return {}

    def control_describe(self, members):
        """Changes members of the discovery document, as JSON; null leaves one out."""
        self.members = json.loads(members)
        return {}

    def control_code(self, code, answer, challenge="", status=200, reuses=False):
        """What the token endpoint answers for a code."""
        with self._lock:
            self.codes[code] = {"answer": answer, "challenge": challenge, "status": status}
            self.reuses = reuses
        return {}

    def control_asked(self):
        """Every request to the token endpoint."""
        with self._lock:
            return list(self.asked)

    def control_publish(self, keys, extra="[]"):
        # Made here, because an RSA key takes longer than a reader of the set may wait.
        for key in keys:
            private_key(key)
        self.published, self.extra = keys, json.loads(extra)
        return {}

    def control_sign(self, key, header, payload, form=""):
        """A token of that header and payload, as they are written."""
        data = f"{b64(header.encode())}.{b64(payload.encode())}"
        return f"{data}.{b64(signature(key, data.encode(), form))}"

    def control_device_key(self, key):
        """The public key as a proof's header has it, as JSON, and its thumbprint (RFC 7638)."""
        members = {name: value for name, value in jwk(key).items() if name in ("crv", "kty", "x", "y")}
        text = json.dumps(members, sort_keys=True, separators=(",", ":"))
        return {"jwk": text, "thumbprint": b64(hashlib.sha256(text.encode()).digest())}

    def control_counts(self):
        with self._lock:
            return dict(self._counts)
