# SPDX-License-Identifier: Apache-2.0
"""The mistakes that a test can request from every fake, for some requests or until the test ends them."""
import base64
import gzip
import os
from dataclasses import dataclass, field
from typing import Callable

import delivery
from messages import Answer


@dataclass
class Plan:
    """How one request is to be treated. Without anything said: well."""

    delay_milliseconds: float = 0
    # How the answer deviates, as each fake defines it.
    lies: object = None
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


def _redirect(arguments):
    location = arguments.get("location", "/elsewhere")
    return instead(Answer(arguments.get("status", 302), b"", extra_headers=[("location", location)]))


def _wrong_json(arguments):
    """A body that is cut short, yet of the declared length."""
    return Plan(change=lambda answer: Answer(answer.status, answer.body[:-2], answer.content_type))


def _wrong_content_type(arguments):
    content_type = arguments.get("contentType", "text/html")
    return Plan(change=lambda answer: Answer(answer.status, answer.body, content_type))


def _oversized(arguments):
    """A body of `bytes` bytes, its length declared or not; endless if undeclared and without a number."""
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
    "redirect": _redirect,
    "wrongJSON": _wrong_json,
    "wrongContentType": _wrong_content_type,
    "oversized": _oversized,
    "oversizedHead": _oversized_head,
    "gzipBomb": _gzip_bomb,
}
# New connections are treated before a byte of TLS or HTTP was sent, by these kinds.
CONNECTION_KINDS = {"hang", "close", "garbage"}


@dataclass
class Rule:
    """A way to misbehave, for an endpoint ("*": any) in an environment (None: both), for a number of requests.

    With an id, only for requests that have it in their path.
    """

    kind: str
    # Makes the plan of a request.
    make_plan: Callable
    endpoint: str = "*"
    environment: str | None = None
    times: int | None = None
    identifier: str | None = None
    arguments: dict = field(default_factory=dict)

    def is_for(self, endpoint, environment, identifier, outside):
        is_endpoint = self.endpoint == endpoint or self.endpoint == "*" and endpoint not in outside
        return is_endpoint and self.environment in (None, environment) and self.identifier in (None, identifier)

    @property
    def plan(self):
        return self.make_plan(self.arguments)


class Rules:
    """The rules in force; the first that fits is used, and used up.

    "*" does not mean the endpoints outside, nor those of connections.
    """

    def __init__(self, own_kinds, connections=("connection",), outside=()):
        self.kinds = KINDS | own_kinds
        self._connections = frozenset(connections)
        self._outside = self._connections | frozenset(outside)
        self._rules = []

    def add(self, kind, endpoint="*", environment=None, times=None, identifier=None, arguments=None):
        """Raises ValueError for a kind that there is not, or not for connections."""
        if kind not in self.kinds or endpoint in self._connections and kind not in CONNECTION_KINDS:
            raise ValueError(f"no misbehaviour {kind!r}; there are {', '.join(self.kinds)}")
        self._rules.append(Rule(kind, self.kinds[kind], endpoint, environment, times, identifier, arguments or {}))

    def clear(self, endpoint=None):
        self._rules = [rule for rule in self._rules if endpoint not in (None, rule.endpoint)]

    def take(self, endpoint, environment=None, identifier=None):
        """The rule for a request, or None."""
        for rule in self._rules:
            if rule.is_for(endpoint, environment, identifier, self._outside):
                if rule.times is not None:
                    rule.times -= 1
                    self._rules = [other for other in self._rules if other.times != 0]
                return rule
        return None
