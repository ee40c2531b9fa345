# SPDX-License-Identifier: Apache-2.0
"""The calls of the App Store Connect API by which a catalog is compared with what is set up there.

Source: https://developer.apple.com/documentation/appstoreconnectapi
"""
import re

import jws
from bearer import Refused
from messages import Answer

ROUTES = [
    ("connectApps", r"/v1/apps()"),
    ("connectGroups", r"/v1/apps/([^/]+)/subscriptionGroups"),
    ("connectOffers", r"/v1/subscriptions/([^/]+)/promotionalOffers"),
]


def route(request):
    """The name of the endpoint and the id in its path; nothing for any other."""
    for name, pattern in ROUTES:
        if request.method == "GET" and (match := re.fullmatch(pattern, request.path)):
            return name, match.group(1)
    return None


class Connect:
    """What a team has set up: apps with groups of subscriptions, and the promotional offers of each."""

    def __init__(self, keys):
        self.keys = keys
        self.apps = []
        self.refusals = []

    def clear(self):
        self.apps = []

    def answer(self, request):
        name, identifier = route(request)
        try:
            self.keys.claims(request.headers.get("authorization", ""), connect=True)
        except Refused as refusal:
            self.refusals.append(str(refusal))
            return Answer(401, jws.to_json({"errors": [{"status": "401", "code": "NOT_AUTHORIZED"}]}))
        body = getattr(self, f"_{name}")(identifier, dict(request.query))
        if body is None:
            return Answer(404, jws.to_json({"errors": [{"status": "404", "code": "NOT_FOUND"}]}))
        return Answer(200, jws.to_json(body | {"links": {"self": request.path}}))

    def _connectApps(self, _, query):
        wanted = query.get("filter[bundleId]")
        data = [
            {"type": "apps", "id": app["id"], "attributes": {"bundleId": app["bundleId"], "name": app["name"]}}
            # Apple's filter is not the very id alone.
            for app in self.apps if wanted is None or app["bundleId"].lower().startswith(wanted.lower())
        ]
        return {"data": data}

    def _connectGroups(self, identifier, query):
        app = next((app for app in self.apps if app["id"] == identifier), None)
        if app is None:
            return None
        data, included = [], []
        for group in app["groups"]:
            subscriptions = group["subscriptions"]
            names = [{"type": "subscriptions", "id": item["id"]} for item in subscriptions]
            data.append({
                "type": "subscriptionGroups", "id": group["id"], "attributes": {"referenceName": group["name"]},
                "relationships": {"subscriptions": {"data": names}},
            })
            included += [
                {
                    "type": "subscriptions", "id": item["id"],
                    "attributes": {"productId": item["productId"], "name": item["productId"], "state": item["state"]},
                }
                for item in subscriptions
            ]
        return {"data": data} | ({"included": included} if query.get("include") == "subscriptions" else {})

    def _connectOffers(self, identifier, _):
        for app in self.apps:
            for group in app["groups"]:
                for item in group["subscriptions"]:
                    if item["id"] == identifier:
                        return {"data": [self._offer(offer) for offer in item["offers"]]}
        return None

    @staticmethod
    def _offer(identifier):
        attributes = {
            "name": identifier.title(), "offerCode": identifier, "duration": "ONE_MONTH", "offerMode": "FREE_TRIAL",
            "numberOfPeriods": 1,
        }
        return {"type": "subscriptionPromotionalOffers", "id": f"offer-{identifier}", "attributes": attributes}
