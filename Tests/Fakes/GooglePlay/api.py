# SPDX-License-Identifier: Apache-2.0
"""The calls of androidpublisher v3 that read the catalog and purchases.

Source: https://developers.google.com/android-publisher/api-ref/rest
"""
import copy
import hashlib
import itertools
import json
import re
from dataclasses import dataclass
from urllib.parse import unquote

import jws
import integrity
import oauth
from errors import APIError, error_answer
from messages import Answer
from proto3 import answer, list_answer

LARGEST_PAGE, USUAL_PAGE = 1000, 50
APP = r"/androidpublisher/v3/applications/([^/]+)"
OFFERS = APP + r"/subscriptions/([^/:]+)/basePlans/([^/:]+)/offers"
ROUTES = [
    ("token", "POST", r"/token"),
    ("certificates", "GET", r"/oauth2/v3/certs"),
    ("subscriptions", "GET", APP + r"/subscriptions"),
    ("subscription", "GET", APP + r"/subscriptions/([^/:]+)"),
    ("subscriptionBatch", "GET", APP + r"/subscriptions:batchGet"),
    ("offers", "GET", OFFERS),
    ("offer", "GET", OFFERS + r"/([^/:]+)"),
    ("offerBatch", "POST", OFFERS + r":batchGet"),
    ("integrity", "POST", r"/v1/([^/:]+):decodeIntegrityToken"),
    ("purchase", "GET", APP + r"/purchases/subscriptionsv2/tokens/([^/]+)"),
]
_endless_numbers = itertools.count(1)


@dataclass(frozen=True)
class Lies:
    """What an answer deviates in."""

    # Members of the resource, or of each one in a list, that differ.
    members: tuple = ()
    # Answers about this purchase instead of the one asked for.
    about: str | None = None
    repeats_page: bool = False
    has_endless_pages: bool = False
    # A further page without items, and then no more.
    has_empty_page: bool = False
    # Targeting as {}, whatever it is.
    loses_targeting: bool = False
    unknown_members: bool = False
    unknown_values: bool = False


HONEST = Lies()


def route(request):
    """The name of the endpoint and the decoded ids in its path; the name is "unknown" for anything else."""
    for name, method, pattern in ROUTES:
        if match := re.fullmatch(pattern, request.path):
            if method == request.method:
                return name, [unquote(segment) for segment in match.groups()]
    return "unknown", []


class API:
    def __init__(self, catalog, purchases, writer, tokens, keys, habits, clock):
        self._catalog = catalog
        self._purchases = purchases
        self._writer = writer
        self._tokens = tokens
        self._keys = keys
        self._habits = habits
        self._clock = clock
        self.integrity_tokens = integrity.IntegrityTokens()
        self.package_names = set()

    def answer(self, request, lies):
        """The answer of Google's servers, if they are well and there are no lies."""
        name, names = route(request)
        if name == "token":
            return self._tokens.answer(request)
        if name == "certificates":
            return self._keys.answer()
        if name == "unknown":
            return Answer(404, b"<html><title>Error 404 (Not Found)!!1</title></html>", "text/html; charset=UTF-8")
        try:
            self._authorize(request, names[0], integrity.SCOPE if name == "integrity" else oauth.SCOPE)
            return getattr(self, f"_{name}")(request, names, lies or HONEST)
        except APIError as error:
            return error_answer(error.reason, error.message)

    def _authorize(self, request, package_name, scope):
        account = self._tokens.authenticate(request, scope)
        if package_name not in self.package_names:
            raise APIError("applicationNotFound", f"Package not found: {package_name}.")
        if account.is_disabled or package_name not in account.package_names:
            raise APIError("permissionDenied")

    def _subscriptions(self, request, names, lies):
        return self._list(request, "subscriptions", self._catalog.subscriptions(names[0]), lies)

    def _subscription(self, request, names, lies):
        return self._one(self._catalog.subscription(*names), lies)

    def _subscriptionBatch(self, request, names, lies):
        ids = [value for name, value in request.query if name == "productIds"]
        if not ids or len(ids) > 100 or len(set(ids)) != len(ids):
            raise APIError("invalid")
        return self._batch("subscriptions", [self._catalog.subscription(names[0], product) for product in ids], lies)

    def _offers(self, request, names, lies):
        package_name, product_id, base_plan_id = names
        if product_id == "-" and base_plan_id != "-":
            raise APIError("invalid", "The base plan id must be '-' if the product id is.")
        if product_id != "-" and self._catalog.subscription(package_name, product_id) is None:
            raise APIError("notFound", f"Subscription not found: {product_id}.")
        return self._list(request, "subscriptionOffers", self._catalog.offers(*names), lies)

    def _offer(self, request, names, lies):
        return self._one(self._catalog.offer(*names), lies)

    def _offerBatch(self, request, names, lies):
        wanted = json.loads(request.body or b"{}").get("requests", [])
        ids = [
            tuple(item.get(name) for name in ("packageName", "productId", "basePlanId", "offerId")) for item in wanted
        ]
        if not ids or len(ids) > 100 or any(None in item or item[0] != names[0] for item in ids):
            raise APIError("invalid")
        return self._batch("subscriptionOffers", [self._catalog.offer(*item) for item in ids], lies)

    def _purchase(self, request, names, lies):
        package_name, token = names
        purchase = self._purchases.find(token)
        if purchase is None:
            # Google's servers look at a token before they look for it.
            raise APIError("purchaseTokenNotFound" if len(token) >= 20 and token.isascii() else "invalid")
        if purchase.package_name != package_name:
            raise APIError("purchaseTokenDoesNotMatchPackageName")
        if purchase.is_deleted:
            raise APIError("purchaseTokenNoLongerValid")
        if purchase.is_gone(self._clock.now()):
            raise APIError("subscriptionPurchaseNoLongerAvailable")
        return self._one(self._writer.write(self._purchases.get(lies.about or token)), lies)

    def _integrity(self, request, names, lies):
        return self._one(self.integrity_tokens.decode(request, names[0]), lies)

    def _one(self, resource, lies):
        if resource is None:
            raise APIError("notFound")
        return answer(deviate(resource, lies), self._habits, lies)

    def _batch(self, name, resources, lies):
        if None in resources:
            raise APIError("notFound")
        return list_answer(name, [deviate(resource, lies) for resource in resources], None, self._habits, lies)

    def _list(self, request, name, resources, lies):
        page = Page(request, self._habits)
        if self._habits.reverses_lists:
            resources = resources[::-1]
        items, token = page.of(resources, lies)
        return list_answer(name, [deviate(item, lies) for item in items], token, self._habits, lies)


def deviate(resource, lies):
    if not (lies.members or lies.loses_targeting):
        return resource
    resource = copy.deepcopy(resource)
    for name, value in lies.members:
        resource.pop(name, None) if value is None else resource.update({name: value})
    if lies.loses_targeting and "targeting" in resource:
        resource["targeting"] = {}
    return resource


class Page:
    """The paging of one request. A page token is only good for the list it came from."""

    def __init__(self, request, habits):
        values = dict(request.query)
        self._fingerprint = hashlib.sha256(request.path.encode()).hexdigest()[:16]
        self._size = min(self._number(values.get("pageSize", "0")) or USUAL_PAGE, LARGEST_PAGE, habits.largest_page)
        self._start = self._read(values["pageToken"]) if values.get("pageToken") else 0

    def of(self, resources, lies):
        """The items, and the token of the next page or None."""
        end = self._start + self._size
        items = resources[self._start : end]
        if lies.repeats_page:
            return items, self._token(self._start)
        if lies.has_endless_pages:
            return [self._copy(resource) for resource in resources[: self._size]], self._token(end)
        if lies.has_empty_page and end >= len(resources) > self._start:
            return items, self._token(end)
        return items, self._token(end) if end < len(resources) else None

    @staticmethod
    def _copy(resource):
        """Another resource, never shown before."""
        name = "offerId" if "offerId" in resource else "productId"
        return resource | {name: f"endless-{next(_endless_numbers)}"}

    @staticmethod
    def _number(text):
        if not (text.isascii() and text.isdigit()):
            raise APIError("invalid", "Invalid value at 'page_size' (TYPE_INT32)")
        return int(text)

    def _token(self, start):
        return jws.to_base64url(jws.to_json([start, self._fingerprint]))

    def _read(self, token):
        try:
            start, fingerprint = json.loads(jws.from_base64url(token))
        except (ValueError, TypeError) as error:
            raise APIError("invalidPageToken") from error
        if fingerprint != self._fingerprint:
            raise APIError("invalidPageToken")
        return start
