# SPDX-License-Identifier: Apache-2.0
"""Signed transactions, renewal infos, app transactions and notifications, from what the store knows."""
import copy
import uuid
from dataclasses import dataclass

import payloads
from store import Customer


@dataclass(frozen=True)
class Lies:
    """How signed data and answers deviate from what the store knows."""

    fault: str | None = None
    # How much earlier than now the data says it was signed.
    stale_milliseconds: int = 0
    extra_members: bool = False
    unknown_values: bool = False


HONEST = Lies()
UNKNOWN_VALUES = {
    "type": "Something Nobody Knows",
    "inAppOwnershipType": "LENT",
    "offerType": 99,
    "offerDiscountType": "BARTER",
    "transactionReason": "WHIM",
    "revocationType": "REGRET",
    "billingPlanType": "WEEKLY",
    "expirationIntent": 77,
    "priceIncreaseStatus": 12,
    "storefront": "XQZ",
}
EXTRA_MEMBERS = {"aMemberNobodyKnows": {"a": [1, 2.5, None, True, {"b": "c"}]}, "anotherMember": "text"}


class SignedData:
    """Signs payloads. Arguments of the control calls come in as dictionaries (see README.md)."""

    def __init__(self, store, signer):
        self.store = store
        self.signer = signer

    def sign(self, payload, lies=HONEST):
        """A payload, dated now if it is not dated."""
        payload = copy.deepcopy(payload)
        if "receiptType" not in payload:
            payload.setdefault("signedDate", payloads.now())
        for name in ("signedDate", "receiptCreationDate"):
            if name in payload:
                payload[name] -= lies.stale_milliseconds
        if lies.unknown_values:
            known = payload.keys() | ({"offerType"} if "transactionId" in payload else set())
            payload |= {name: value for name, value in UNKNOWN_VALUES.items() if name in known}
        if lies.unknown_values or lies.extra_members:
            payload |= EXTRA_MEMBERS
        return self.signer.sign(payload, lies.fault)

    def transaction(self, arguments):
        return self._sign_changed(self._transaction_payload(arguments), arguments)

    def renewal_info(self, arguments):
        return self._sign_changed(self._subscription(arguments).renewal, arguments)

    def app_transaction(self, arguments):
        payload = self._customer(arguments).app_transaction
        if payload is None:
            raise ValueError("the customer has no app transaction")
        return self._sign_changed(payload | {"receiptCreationDate": payloads.now()}, arguments)

    def realtime_request(self, arguments):
        """What Apple's servers send for a retention message."""
        customer = self._customer(arguments)
        subscription = self._subscription(arguments)
        payload = {
            "originalTransactionId": subscription.original_id,
            "appAppleId": self.store.app_apple_id(customer.bundle_id),
            "productId": subscription.latest["productId"],
            "userLocale": "en-US",
            "requestIdentifier": str(uuid.uuid4()),
            "environment": customer.environment,
        }
        return self._sign_changed(payload, arguments)

    def any_payload(self, arguments):
        """A payload that the caller made up."""
        return self.signer.sign(arguments["payload"], arguments.get("fault"))

    def notification(self, arguments):
        """A notification of version 2, with its nested signed data."""
        payload = self._notification_payload(arguments)
        payloads.merge(payload, arguments.get("members"))
        return self.sign(payload, Lies(fault=arguments.get("fault"))), payload

    def _notification_payload(self, arguments):
        payload = {
            "notificationType": arguments.get("type", "TEST"),
            "notificationUUID": arguments.get("notificationUUID") or str(uuid.uuid4()),
            "version": "2.0",
            "signedDate": arguments.get("signedDate") or payloads.now(),
        }
        if arguments.get("subtype"):
            payload["subtype"] = arguments["subtype"]
        for other in ("summary", "externalPurchaseToken", "appData"):
            if other in arguments:
                return payload | {other: arguments[other]}
        return payload | {"data": self._notification_data(arguments, payload["signedDate"])}

    def _notification_data(self, arguments, signed_date):
        customer = self._customer(arguments)
        data = {"bundleId": customer.bundle_id, "bundleVersion": "1", "environment": customer.environment}
        if customer.environment == "Production":
            data["appAppleId"] = self.store.app_apple_id(customer.bundle_id)
        if "transactionId" in arguments:
            data |= self._nested(arguments, signed_date)
        payloads.merge(data, arguments.get("data"))
        return data

    def _nested(self, arguments, signed_date):
        """The signed data inside a notification, signed at the same time unless said otherwise."""
        dated = {"signedDate": signed_date}
        transaction = arguments | {
            "members": dated | arguments.get("transaction", {}), "fault": arguments.get("transactionFault")
        }
        data = {"signedTransactionInfo": self.transaction(transaction)}
        if self._find_subscription(arguments):
            renewal = arguments | {
                "members": dated | arguments.get("renewalInfo", {}), "fault": arguments.get("renewalInfoFault")
            }
            data["signedRenewalInfo"] = self.renewal_info(renewal)
            data["status"] = arguments.get("status", self._subscription(arguments).status)
        return data

    def _sign_changed(self, payload, arguments):
        payload = copy.deepcopy(payload)
        payloads.merge(payload, arguments.get("members"))
        return self.sign(payload, Lies(fault=arguments.get("fault")))

    def _transaction_payload(self, arguments):
        """The transaction of an id; for an id that begins a subscription, with `latest`, its latest one."""
        subscription = self._find_subscription(arguments)
        if subscription and arguments.get("latest", subscription.original_id == arguments.get("transactionId")):
            return subscription.latest
        for transaction in self._customer(arguments).transactions:
            if transaction["transactionId"] == arguments.get("transactionId"):
                return transaction
        raise ValueError("no such transaction")

    def _customer(self, arguments):
        """The customer named or found by an id; otherwise one without a name."""
        if "transactionId" in arguments:
            return self.store.find_anywhere(arguments["transactionId"])
        if "customer" in arguments:
            return self.store.customers[arguments["customer"]]
        bundle_id = arguments.get("bundleId", next(iter(self.store.apps)))
        return Customer("", arguments.get("environment", "Production"), bundle_id, "")

    def _find_subscription(self, arguments):
        customer = self._customer(arguments)
        if "transactionId" not in arguments:
            return customer.subscriptions[0] if customer.subscriptions else None
        for subscription in customer.subscriptions:
            ids = {transaction["transactionId"] for transaction in subscription.transactions}
            if arguments["transactionId"] in ids | {subscription.original_id}:
                return subscription
        return None

    def _subscription(self, arguments):
        if subscription := self._find_subscription(arguments):
            return subscription
        raise ValueError("no such subscription")
