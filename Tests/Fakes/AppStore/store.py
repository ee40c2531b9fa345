# SPDX-License-Identifier: Apache-2.0
"""What the fake knows: apps, customers with their purchases, and notifications it once sent."""
import itertools
from dataclasses import dataclass, field

import payloads

ENVIRONMENTS = ("Production", "Sandbox")


@dataclass
class Customer:
    name: str
    environment: str
    bundle_id: str
    app_transaction_id: str
    # Days count from this time, so that a later state does not move the periods before it.
    made_at: int = field(default_factory=payloads.now)
    app_account_token: str | None = None
    storefront: str = "USA"
    subscriptions: list = field(default_factory=list)
    # Transactions that belong to no subscription.
    purchases: list = field(default_factory=list)
    # The payload of the app transaction; None if there is none.
    app_transaction: dict | None = None

    @property
    def transactions(self):
        """All of them, by the time they last changed."""
        chains = [subscription.transactions for subscription in self.subscriptions] + [self.purchases]
        return sorted(itertools.chain(*chains), key=modified)

    @property
    def ids(self):
        """Each id that finds the customer."""
        found = {self.app_transaction_id}
        for transaction in self.transactions:
            found |= {transaction["transactionId"], transaction["originalTransactionId"]}
        return found


def modified(transaction):
    return max(transaction["purchaseDate"], transaction.get("revocationDate", 0))


class Store:
    """Customers by name; ids are looked up within one environment and app, as at Apple's."""

    def __init__(self):
        self._numbers = itertools.count(1)
        self.clear()

    def clear(self):
        """Forgets everything, but gives no id a second time."""
        # Bundle id: Apple's number of the app.
        self.apps = {"com.example.app": 1234567890}
        self.customers = {}
        self._by_id = {}
        # (environment, item of the notification history), from the oldest.
        self.notifications = []
        # Token: the signed test notification.
        self.test_notifications = {}
        # Original transaction: the token that was set for it, and from which purchase date on.
        self._tokens = {}

    def app_apple_id(self, bundle_id):
        return self.apps.get(bundle_id, 1)

    def set_customer(self, description):
        """Makes a customer, or replaces the state of an existing one and keeps the ids."""
        name = description.get("customer", f"customer-{len(self.customers) + 1}")
        old = self.customers.get(name)
        customer = self._customer(name, description, old)
        old_ids = [subscription.original_id for subscription in old.subscriptions] if old else []
        for index, subscription in enumerate(description.get("subscriptions", [])):
            own = subscription.get("originalTransactionId")
            original_id = own or (old_ids[index] if index < len(old_ids) else self._new_id("31"))
            customer.subscriptions.append(payloads.build_subscription(customer, subscription, original_id))
            self._apply_token(customer.subscriptions[-1])
        customer.purchases = [self._purchase(customer, purchase) for purchase in description.get("purchases", [])]
        customer.app_transaction = self._app_transaction(customer, description.get("appTransaction", {}))
        self._put(customer, old)
        return customer

    def set_app_account_token(self, customer, original_id, token):
        """Gives a purchase another token; of a subscription, from the current period on."""
        for purchase in customer.purchases:
            if purchase["originalTransactionId"] == original_id:
                purchase["appAccountToken"] = token
        for subscription in customer.subscriptions:
            if subscription.original_id == original_id:
                self._tokens[original_id] = (token, subscription.latest["purchaseDate"])
                self._apply_token(subscription)

    def _apply_token(self, subscription):
        token, since = self._tokens.get(subscription.original_id, (None, 0))
        if token is None:
            return
        for transaction in subscription.transactions:
            if transaction["purchaseDate"] >= since:
                transaction["appAccountToken"] = token
        subscription.renewal["appAccountToken"] = token

    def _customer(self, name, description, old):
        environment = description.get("environment", old.environment if old else "Production")
        if environment not in ENVIRONMENTS:
            raise ValueError(f"no environment {environment!r}; there are {', '.join(ENVIRONMENTS)}")
        app_transaction_id = old.app_transaction_id if old else self._new_id("7")
        return Customer(
            name=name,
            environment=environment,
            bundle_id=description.get("bundleId", old.bundle_id if old else next(iter(self.apps))),
            app_transaction_id=description.get("appTransactionId", app_transaction_id),
            made_at=old.made_at if old else payloads.now(),
            app_account_token=description.get("appAccountToken"),
            storefront=description.get("storefront", "USA"),
        )

    def _put(self, customer, old):
        if old:
            self._by_id = {key: value for key, value in self._by_id.items() if value is not old}
        self.customers[customer.name] = customer
        self._by_id |= {(customer.environment, identifier): customer for identifier in customer.ids}

    def find(self, transaction_id, environment, bundle_id=None):
        """The customer that an id belongs to, or None."""
        customer = self._by_id.get((environment, transaction_id))
        return customer if customer and bundle_id in (None, customer.bundle_id) else None

    def find_anywhere(self, transaction_id):
        for environment in ENVIRONMENTS:
            if customer := self.find(transaction_id, environment):
                return customer
        raise ValueError(f"no customer has the transaction {transaction_id!r}")

    def _new_id(self, prefix):
        # Ids of the renewals follow, so the next subscription begins far behind.
        return f"{prefix}{next(self._numbers):09}0000"

    def _purchase(self, customer, description):
        at = customer.made_at
        transaction_id = self._new_id("32")
        members = {
            "transactionId": transaction_id,
            "originalTransactionId": transaction_id,
            "bundleId": customer.bundle_id,
            "productId": "com.example.coins",
            "purchaseDate": at - payloads.DAY,
            "originalPurchaseDate": at - payloads.DAY,
            "quantity": 1,
            "type": "Consumable",
            "inAppOwnershipType": "PURCHASED",
            "environment": customer.environment,
            "transactionReason": "PURCHASE",
            "storefront": customer.storefront,
            "storefrontId": "143441",
            "appTransactionId": customer.app_transaction_id,
        }
        payloads.merge(members, description)
        return members

    def _app_transaction(self, customer, changes):
        if changes is None:
            return None
        at = customer.made_at
        members = {
            "receiptType": customer.environment,
            "bundleId": customer.bundle_id,
            "applicationVersion": "1",
            "originalApplicationVersion": "1",
            "originalPurchaseDate": at - 400 * payloads.DAY,
            "receiptCreationDate": at,
            "deviceVerification": "AAAA",
            "deviceVerificationNonce": "48ccfa42-7431-4f22-9908-7e88983e105a",
            "appTransactionId": customer.app_transaction_id,
            "originalPlatform": "iOS",
        }
        if customer.environment == "Production":
            members["appAppleId"] = self.app_apple_id(customer.bundle_id)
        payloads.merge(members, changes)
        return members
