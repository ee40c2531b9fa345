# SPDX-License-Identifier: Apache-2.0
"""The calls of the Retention Messaging API that read what is set up, and those of performance tests.

Source: https://developer.apple.com/documentation/retentionmessaging
"""
import json
import re

import jws
from bearer import Refused
from errors import error_answer
from messages import Answer

PREFIX = "/inApps/v1/messaging"
ROUTES = [
    ("messageList", "GET", r"/message/list()"),
    ("realtimeURL", "GET", r"/realtime/url()"),
    ("defaultMessage", "GET", r"/default/([^/]+/[^/]+)"),
    ("performanceTest", "POST", r"/performanceTest()"),
    ("performanceTestResult", "GET", r"/performanceTest/result/([^/]+)"),
]


def route(request):
    """The name of the endpoint and what its path names; nothing for any other."""
    for name, method, pattern in ROUTES:
        if request.method == method and (match := re.fullmatch(re.escape(PREFIX) + pattern, request.path)):
            return name, match.group(1)
    return None


class Messaging:
    """What teams with access have set up, by environment and bundle id; all others get 404."""

    def __init__(self, keys, store):
        self.keys = keys
        self.store = store
        self.clear()

    def clear(self):
        self.setups = {}
        # The results that are still to be answered, one for each question; the last one again and again.
        self.results = []
        self.requests = set()

    def answer(self, request):
        name, identifier = route(request)
        try:
            claims = self.keys.claims(request.headers.get("authorization", ""))
        except Refused:
            return Answer(401)
        setup = self.setups.get((request.environment, claims["bid"]))
        if setup is None:
            return Answer(404)
        return getattr(self, f"_{name}")(setup, identifier, request, claims)

    def _messageList(self, setup, *_):
        return Answer(200, jws.to_json({"messageIdentifiers": setup["messages"]}))

    def _realtimeURL(self, setup, *_):
        url = setup.get("realtimeURL")
        return Answer(200, jws.to_json({"realtimeURL": url})) if url else error_answer(4040021)

    def _defaultMessage(self, setup, identifier, *_):
        found = setup.get("defaults", {}).get(identifier)
        return Answer(200, jws.to_json({"messageIdentifier": found})) if found else error_answer(4040020)

    def _performanceTest(self, setup, _, request, claims):
        if request.environment != "Sandbox" or not setup.get("realtimeURL"):
            return error_answer(4000211)
        try:
            identifier = json.loads(request.body)["originalTransactionId"]
        except (ValueError, KeyError, TypeError):
            return error_answer(4000211)
        customer = self.store.find(identifier, request.environment, claims["bid"])
        if customer is None or identifier not in [each.original_id for each in customer.subscriptions]:
            return error_answer(4000187 if customer else 4040010)
        if self.requests:
            return error_answer(4000213)
        self.requests.add("5f7c3a52-0000-4000-8000-000000000001")
        return Answer(200, jws.to_json({"config": CONFIG, "requestId": next(iter(self.requests))}))

    def _performanceTestResult(self, setup, identifier, *_):
        if not re.fullmatch(r"[0-9a-f-]{36}", identifier):
            return error_answer(4000212)
        if identifier not in self.requests:
            return error_answer(4040018)
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        return Answer(200, jws.to_json({"config": CONFIG, "target": setup.get("realtimeURL")} | result))


CONFIG = {
    "maxConcurrentRequests": 10, "totalRequests": 100, "totalDuration": 60000, "responseTimeThreshold": 700,
    "successRateThreshold": 95,
}
