# SPDX-License-Identifier: Apache-2.0
"""What Pub/Sub posts to a push endpoint, and the OIDC token that comes along.

Source: https://docs.cloud.google.com/pubsub/docs/authenticate-push-subscriptions
"""
import base64
import functools
import uuid

import jws
from identities import rsa2048
from messages import Answer
from proto3 import merge
from push_faults import TOKEN_FAULTS
from times import SECOND, rfc3339

ISSUER = "https://accounts.google.com"


class SigningKey:
    def __init__(self, key_id):
        self.key_id = key_id

    @functools.cached_property
    def key(self):
        """Made when it is first needed: most tests start a fake and need none, and a key takes 0.3 s."""
        return rsa2048()

    @property
    def jwk(self):
        numbers = self.key.public_key().public_numbers()
        return {
            "kid": self.key_id,
            "use": "sig",
            "kty": "RSA",
            "alg": "RS256",
            "n": jws.to_base64url(to_bytes(numbers.n)),
            "e": jws.to_base64url(to_bytes(numbers.e)),
        }


def to_bytes(number):
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


class OIDCKeys:
    """Two published keys as Google has them; the first one signs."""

    def __init__(self):
        self.published = [make_key(), make_key()]
        self.signing = self.published[0]
        # None: the answer does not say how long it may be kept.
        self.max_age_seconds = 3600
        # Members of the answer that differ.
        self.members = {}

    @functools.cached_property
    def stranger(self):
        """A key that is never published, made when it is first needed."""
        return rsa2048()

    def rotate(self, keeps_old=True, publishes=True):
        """Signs with a new key, which a verifier can find only after it is published."""
        self.signing = make_key()
        if not keeps_old:
            self.published = []
        if publishes:
            self.publish()

    def publish(self):
        """Shows the key that signs."""
        if self.signing not in self.published:
            self.published = [self.signing, *self.published][:3]

    def answer(self):
        """The JWKS."""
        age = f"public, max-age={self.max_age_seconds}, must-revalidate, no-transform"
        fields = [("cache-control", age)] if self.max_age_seconds is not None else []
        body = merge({"keys": [key.jwk for key in self.published]}, self.members)
        return Answer(200, jws.to_json(body), "application/json; charset=UTF-8", fields)


def make_key():
    return SigningKey(uuid.uuid4().hex + uuid.uuid4().hex[:8])


class Pusher:
    """Wraps notifications and signs for them."""

    def __init__(self, keys, clock):
        self._keys = keys
        self._clock = clock
        self.reset()

    def reset(self):
        self.audience = "https://offers.example.com/v1/notifications/google-play"
        self.email = "pubsub-push@example-project.iam.gserviceaccount.com"
        self.subscription = "projects/example-project/subscriptions/play-rtdn"

    def body(self, notification, arguments):
        """The message as it is posted; `arguments` as `pushMessage` takes them."""
        content = merge(dict(notification.content), arguments.get("content"))
        data = arguments["data"].encode() if "data" in arguments else jws.to_json(content)
        at = rfc3339(arguments.get("publishedAt", notification.published_at))
        message_id = arguments.get("messageId", notification.message_id)
        message = {
            "data": base64.b64encode(data).decode(),
            "messageId": message_id,
            "message_id": message_id,
            "publishTime": at,
            "publish_time": at,
        }
        envelope = {
            "message": merge(message, arguments.get("message")),
            "subscription": self.subscription,
        }
        return jws.to_json(merge(envelope, arguments.get("envelope"))).decode()

    def token(self, changes, fault=None):
        """A token as Google signs it, with claims that differ and a fault, if any."""
        now = self._clock.now() // SECOND
        claims = {
            "aud": self.audience,
            "azp": "110000000000000000001",
            "email": self.email,
            "email_verified": True,
            "exp": now + 3600,
            "iat": now,
            "iss": ISSUER,
            "sub": "110000000000000000001",
        }
        claims = merge(claims, changes)
        key = self._keys.signing
        header = {"alg": "RS256", "kid": key.key_id, "typ": "JWT"}
        if fault is None:
            return jws.rs256(header, claims, key.key)
        if fault not in TOKEN_FAULTS:
            raise ValueError(f"no fault {fault!r}; there are {', '.join(TOKEN_FAULTS)}")
        return TOKEN_FAULTS[fault][0](header, claims, key.key, self._keys.stranger)
