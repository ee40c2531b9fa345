# SPDX-License-Identifier: Apache-2.0
"""What the fake can be told to do wrong, for some requests or until it is told to stop."""
import base64
import gzip
import os
from dataclasses import dataclass, field
from typing import Callable

import delivery
import payloads
from api import HONEST_API, APILies
from errors import error_answer
from messages import Answer
from signed_data import Lies


@dataclass
class Plan:
    """How one request is to be treated. Without anything said: well."""

    delay_milliseconds: float = 0
    lies: APILies = HONEST_API
    # Answers instead of the API.
    instead: Answer | None = None
    # Changes the API's answer.
    change: Callable = lambda answer: answer
    deliver: Callable = delivery.normally


def instead(answer):
    return Plan(instead=answer)


def _slow(arguments):
    return Plan(delay_milliseconds=arguments.get("milliseconds", 1000))


def _drip(arguments):
    return Plan(deliver=delivery.dripping(arguments.get("milliseconds", 50), arguments.get("bytes", 1)))


def _garbage(arguments):
    return Plan(deliver=delivery.garbage(os.urandom(arguments.get("bytes", 512))))


def _answer(arguments):
    """Whatever the caller says."""
    body = arguments.get("body", "").encode()
    if "bodyBase64" in arguments:
        body = base64.b64decode(arguments["bodyBase64"])
    headers = [(name, value) for name, value in arguments.get("headers", {}).items()]
    content_type = arguments.get("contentType", "application/json")
    return instead(Answer(arguments.get("status", 200), body, content_type, headers))


def _status(arguments):
    """A bare status with a page of HTML, as proxies in between make them."""
    status = arguments.get("status", 503)
    return instead(Answer(status, f"<html><h1>{status}</h1></html>".encode(), "text/html"))


def _error(arguments):
    """An error of the API by its code."""
    return instead(error_answer(arguments.get("code", 5000000)))


def _rate_limit(arguments):
    """429; `retryAfter` as text, `retryAfterMilliseconds` from now, or no Retry-After at all."""
    headers = []
    if "retryAfterMilliseconds" in arguments:
        headers = [("retry-after", str(payloads.now() + arguments["retryAfterMilliseconds"]))]
    if "retryAfter" in arguments:
        headers = [("retry-after", arguments["retryAfter"])]
    return instead(error_answer(4290000, headers))


def _unauthorized(arguments):
    return instead(Answer(401))


def _redirect(arguments):
    location = arguments.get("location", "/inApps/v1/elsewhere")
    return instead(Answer(arguments.get("status", 302), b"", extra_headers=[("location", location)]))


def _wrong_json(arguments):
    """A body that is cut short, yet of the declared length."""
    return Plan(change=lambda answer: Answer(answer.status, answer.body[:-2], answer.content_type))


def _wrong_shape(arguments):
    """Good JSON, but every member is of another type."""

    def change(answer):
        body = b'{"data":{"a":1},"signedTransactions":"none","signedTransactionInfo":7,"hasMore":"yes","revision":[]}'
        return Answer(200, body)

    return Plan(change=change)


def _wrong_content_type(arguments):
    content_type = arguments.get("contentType", "text/html")
    return Plan(change=lambda answer: Answer(answer.status, answer.body, content_type))


def _oversized(arguments):
    """A body of so many bytes, its length declared or not; endless without a number and undeclared."""
    if not arguments.get("declaresLength", True):
        return Plan(deliver=delivery.without_length(arguments.get("bytes")))
    filler = b"x" * arguments.get("bytes", 8 << 20)
    return instead(Answer(200, b'{"filler":"' + filler + b'"}'))


def _oversized_head(arguments):
    fields = [("x-filler-%d" % index, "x" * 1000) for index in range(arguments.get("bytes", 1 << 20) // 1000)]
    return Plan(change=lambda answer: Answer(answer.status, answer.body, answer.content_type, fields))


def _gzip_bomb(arguments):
    body = gzip.compress(b'{"filler":"' + b"x" * arguments.get("bytes", 64 << 20) + b'"}')
    return instead(Answer(200, body, extra_headers=[("content-encoding", "gzip")]))


def _stale(arguments):
    """Signed data that says it was signed long ago."""
    days = arguments.get("days", 30)
    return Plan(lies=APILies(signed=Lies(stale_milliseconds=int(days * payloads.DAY))))


def _fault(arguments):
    """Signed data with a fault (see signer.py)."""
    return Plan(lies=APILies(signed=Lies(fault=arguments["fault"])))


def _other_customer(arguments):
    """Answers about another transaction than the one asked for."""
    return Plan(lies=APILies(about=arguments["transactionId"]))


KINDS = {
    "hang": lambda arguments: Plan(deliver=delivery.hang),
    "slow": _slow,
    "drip": _drip,
    "cutOff": lambda arguments: Plan(deliver=delivery.cut_off(arguments.get("bytes"))),
    "stall": lambda arguments: Plan(deliver=delivery.stall(arguments.get("bytes"))),
    "close": lambda arguments: Plan(deliver=delivery.close_at_once),
    "resetStream": lambda arguments: Plan(deliver=delivery.reset),
    "goAway": lambda arguments: Plan(deliver=delivery.go_away),
    "garbage": _garbage,
    "answer": _answer,
    "status": _status,
    "error": _error,
    "rateLimit": _rate_limit,
    "unauthorized": _unauthorized,
    "redirect": _redirect,
    "wrongJSON": _wrong_json,
    "wrongShape": _wrong_shape,
    "wrongContentType": _wrong_content_type,
    "oversized": _oversized,
    "oversizedHead": _oversized_head,
    "gzipBomb": _gzip_bomb,
    "stale": _stale,
    "fault": _fault,
    "otherCustomer": _other_customer,
    "notFound": lambda arguments: instead(error_answer(4040010)),
    "extraMembers": lambda arguments: Plan(lies=APILies(signed=Lies(extra_members=True))),
    "unknownValues": lambda arguments: Plan(lies=APILies(signed=Lies(unknown_values=True))),
    "repeatedPage": lambda arguments: Plan(lies=APILies(repeats_page=True)),
    "endlessPages": lambda arguments: Plan(lies=APILies(has_endless_pages=True)),
}
# Endpoints that "*" does not mean. Connections are treated before a byte of TLS or HTTP was sent, by these kinds.
CONNECTIONS = {"connection", "ocspConnection"}
OUTSIDE_API = CONNECTIONS | {"ocsp"}
CONNECTION_KINDS = {"hang", "close", "garbage"}


@dataclass
class Rule:
    """A way to misbehave, for an endpoint ("*": any) in an environment (None: both), for so many requests.

    With an id, only for requests that have it in their path.
    """

    kind: str
    endpoint: str = "*"
    environment: str | None = None
    times: int | None = None
    identifier: str | None = None
    arguments: dict = field(default_factory=dict)

    def is_for(self, endpoint, environment, identifier):
        is_endpoint = self.endpoint == endpoint or self.endpoint == "*" and endpoint not in OUTSIDE_API
        return is_endpoint and self.environment in (None, environment) and self.identifier in (None, identifier)

    @property
    def plan(self):
        return KINDS[self.kind](self.arguments)


class Rules:
    """The rules in force; the first that fits is used, and used up."""

    def __init__(self):
        self._rules = []

    def add(self, rule):
        if rule.kind not in KINDS or rule.endpoint in CONNECTIONS and rule.kind not in CONNECTION_KINDS:
            raise ValueError(f"no misbehaviour {rule.kind!r}; there are {', '.join(KINDS)}")
        self._rules.append(rule)

    def clear(self, endpoint=None):
        self._rules = [rule for rule in self._rules if endpoint not in (None, rule.endpoint)]

    def take(self, endpoint, environment=None, identifier=None):
        """The rule for a request, or None."""
        for rule in self._rules:
            if rule.is_for(endpoint, environment, identifier):
                if rule.times is not None:
                    rule.times -= 1
                    self._rules = [other for other in self._rules if other.times != 0]
                return rule
        return None
