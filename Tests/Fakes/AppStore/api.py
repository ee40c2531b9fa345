# SPDX-License-Identifier: Apache-2.0
"""The calls of the App Store Server API.

Source: https://developer.apple.com/documentation/appstoreserverapi
"""
import json
import re
import uuid
from dataclasses import dataclass

import jws
import payloads
from bearer import Refused
from errors import APIError, error_answer
from history import HistoryQuery
from messages import Answer
from notification_history import NotificationQuery
from signed_data import EXTRA_MEMBERS, HONEST, Lies

ROUTES = [
    ("statuses", "GET", r"/inApps/v1/subscriptions/([^/]*)"),
    ("history", "GET", r"/inApps/v2/history/([^/]*)"),
    ("appTransactionInfo", "GET", r"/inApps/v1/transactions/appTransactions/([^/]*)"),
    ("transactionInfo", "GET", r"/inApps/v1/transactions/([^/]*)"),
    ("setAppAccountToken", "PUT", r"/inApps/v1/transactions/([^/]*)/appAccountToken"),
    ("notificationHistory", "POST", r"/inApps/v1/notifications/history()"),
    ("requestTestNotification", "POST", r"/inApps/v1/notifications/test()"),
    ("testNotificationStatus", "GET", r"/inApps/v1/notifications/test/([^/]*)"),
]

UUID = r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"


@dataclass(frozen=True)
class Call:
    """One request that may be answered: who sends it, what it is about, and how the answer is falsified."""

    environment: str
    bundle_id: str
    identifier: str
    query: list
    body: bytes
    lies: "APILies"


@dataclass(frozen=True)
class APILies:
    """What the answers deviate in."""

    signed: Lies = HONEST
    # Answers about this transaction instead of the one asked for.
    about: str | None = None
    repeats_page: bool = False
    has_endless_pages: bool = False


HONEST_API = APILies()


def route(request):
    """The name of the endpoint and the id in its path; the name is "unknown" for anything else."""
    for name, method, pattern in ROUTES:
        if match := re.fullmatch(pattern, request.path):
            if method == request.method:
                return name, match.group(1)
    return "unknown", ""


class API:
    def __init__(self, store, signed_data, keys):
        self.store = store
        self.signed_data = signed_data
        self.keys = keys
        self.refusals = []
        self.tokens = set()

    def answer(self, request, lies):
        """The answer of Apple's servers, if they are well and there are no lies."""
        lies = lies or HONEST_API
        name, identifier = route(request)
        if name == "unknown":
            return Answer(404)
        try:
            claims = self._authenticate(request)
        except Refused as refusal:
            self.refusals.append(str(refusal))
            return Answer(401)
        call = Call(request.environment, claims["bid"], identifier, request.query, request.body, lies)
        try:
            body = getattr(self, f"_{name}")(call)
        except APIError as error:
            return error_answer(error.code)
        if body is None:
            return Answer(200)
        if lies.signed.extra_members or lies.signed.unknown_values:
            body |= EXTRA_MEMBERS
        return Answer(200, jws.to_json(body))

    def _authenticate(self, request):
        authorization = request.headers.get("authorization", "")
        claims = self.keys.claims(authorization)
        self.tokens.add(authorization)
        return claims

    def _customer(self, call):
        """The customer of the id in the path, in the environment and app of the request."""
        if not re.fullmatch(r"[0-9]{1,20}", call.identifier):
            raise APIError(4000006)
        identifier = call.lies.about or call.identifier
        if customer := self.store.find(identifier, call.environment, call.bundle_id):
            return customer
        raise APIError(4040010)

    def _common(self, call):
        members = {"environment": call.environment, "bundleId": call.bundle_id}
        if call.environment == "Production":
            members["appAppleId"] = self.store.app_apple_id(call.bundle_id)
        return members

    def _statuses(self, call):
        customer = self._customer(call)
        wanted = [value for name, value in call.query if name == "status"]
        if any(value not in ("1", "2", "3", "4", "5") for value in wanted):
            raise APIError(4000031)
        groups = {}
        for subscription in customer.subscriptions:
            if not wanted or str(subscription.status) in wanted:
                groups.setdefault(subscription.group, []).append(self._last_transaction(subscription, call))
        data = [
            {"subscriptionGroupIdentifier": group, "lastTransactions": items} for group, items in groups.items()
        ]
        return self._common(call) | {"data": data}

    def _last_transaction(self, subscription, call):
        return {
            "originalTransactionId": subscription.original_id,
            "status": 42 if call.lies.signed.unknown_values else subscription.status,
            "signedTransactionInfo": self.signed_data.sign(subscription.latest, call.lies.signed),
            "signedRenewalInfo": self.signed_data.sign(subscription.renewal, call.lies.signed),
        }

    def _history(self, call):
        query = HistoryQuery(call.query, call.identifier)
        found = query.select(self._customer(call).transactions)
        if call.lies.has_endless_pages:
            page, revision, has_more = query.endless_page(found)
        else:
            page, revision, has_more = query.page(found, repeats=call.lies.repeats_page)
        signed = [self.signed_data.sign(transaction, call.lies.signed) for transaction in page]
        return self._common(call) | {"revision": revision, "hasMore": has_more, "signedTransactions": signed}

    def _transactionInfo(self, call):
        customer = self._customer(call)
        identifier = call.lies.about or call.identifier
        for transaction in customer.transactions:
            if transaction["transactionId"] == identifier:
                return {"signedTransactionInfo": self.signed_data.sign(transaction, call.lies.signed)}
        raise APIError(4000048 if identifier == customer.app_transaction_id else 4040010)

    def _setAppAccountToken(self, call):
        """Answers without a body."""
        token = read_object(call.body).get("appAccountToken")
        if not isinstance(token, str) or not re.fullmatch(UUID, token):
            raise APIError(4000183)
        customer = self._customer(call)
        purchases = [
            transaction
            for transaction in customer.transactions
            if transaction["originalTransactionId"] == call.identifier
        ]
        if not purchases:
            raise APIError(4000187)
        if any(purchase["inAppOwnershipType"] == "FAMILY_SHARED" for purchase in purchases):
            raise APIError(4000185)
        self.store.set_app_account_token(customer, call.identifier, token.lower())

    def _appTransactionInfo(self, call):
        customer = self._customer(call)
        if customer.app_transaction is None:
            raise APIError(4040019)
        members = customer.app_transaction | {"receiptCreationDate": payloads.now()}
        return {"signedAppTransactionInfo": self.signed_data.sign(members, call.lies.signed)}

    def _notificationHistory(self, call):
        query = NotificationQuery(read_object(call.body), call.query)
        items = [item for environment, item in self.store.notifications if environment == call.environment]
        found = query.select([item for item in items if item.bundle_id in (None, call.bundle_id)])
        page, token = query.page(found, call.lies)
        body = {"hasMore": token is not None, "notificationHistory": [item.public for item in page]}
        return body | ({"paginationToken": token} if token else {})

    def _requestTestNotification(self, call):
        token = f"{uuid.uuid4()}_{payloads.now()}"
        signed, _ = self.signed_data.notification({"environment": call.environment, "bundleId": call.bundle_id})
        self.store.test_notifications[token] = signed
        return {"testNotificationToken": token}

    def _testNotificationStatus(self, call):
        if call.identifier not in self.store.test_notifications:
            raise APIError(4040008)
        attempt = {"attemptDate": payloads.now(), "sendAttemptResult": "SUCCESS"}
        return {"signedPayload": self.store.test_notifications[call.identifier], "sendAttempts": [attempt]}


def read_object(body):
    try:
        value = json.loads(body)
    except ValueError as error:
        raise APIError(4000000) from error
    if not isinstance(value, dict):
        raise APIError(4000000)
    return value
