# SPDX-License-Identifier: Apache-2.0
"""Tokens of Play Integrity, and what Google says of them.

Source: https://developer.android.com/google/play/integrity/verdicts
"""
import copy
import json

from errors import APIError

SCOPE = "https://www.googleapis.com/auth/playintegrity"


class IntegrityTokens:
    """By their text; what is said of one is what the test has set."""

    def __init__(self):
        self.clear()

    def clear(self):
        self._tokens = {}

    def put(self, token, package_name, payload, good_for):
        """After `good_for` answers the verdicts are cleared (None: never), as Google does with repeated tokens."""
        self._tokens[token] = [package_name, payload, good_for]

    def decode(self, request, package_name):
        """The body of the answer; raises APIError."""
        try:
            members = json.loads(request.body or b"{}")
        except ValueError as error:
            raise APIError("badRequest", "Invalid JSON payload received.") from error
        if list(members) != ["integrity_token"] or request.headers.get("content-type") != "application/json":
            raise APIError("badRequest", "Invalid JSON payload received.")
        known = self._tokens.get(members["integrity_token"])
        if known is None or known[0] != package_name:
            raise APIError("badRequest", "Integrity token cannot be decoded.")
        payload, good_for = known[1], known[2]
        if good_for is not None:
            known[2] = max(0, good_for - 1)
        return {"tokenPayloadExternal": cleared(payload) if good_for == 0 else payload}


def cleared(payload):
    payload = copy.deepcopy(payload)
    payload["appIntegrity"] = {"appRecognitionVerdict": "UNEVALUATED"}
    payload["deviceIntegrity"] = {}
    payload["accountDetails"] = {"appLicensingVerdict": "UNEVALUATED"}
    return payload
