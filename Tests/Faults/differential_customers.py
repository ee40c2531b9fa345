# SPDX-License-Identifier: Apache-2.0
"""The customers of `differential`: their names, what a backend states of them, and what they buy in the fake stores."""
import datetime
import hashlib
import random
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from differential_catalog import GROUPS, MONTHLY, PACKAGE, PLAY_PLAN, PLAY_PRODUCT
from differential_sides import Sides

DAY = 86400
Object = dict[str, Any]
NAMES = ["customerId", "appAccountToken", "applicationUsername", "anonymousId"]
# The names that a request has together. Some have no name in common, so a customer comes back under another name.
COMBINATIONS = [["customerId"], ["customerId"], ["appAccountToken"], ["customerId", "appAccountToken"], ["anonymousId"],
                ["customerId", "anonymousId"], ["appAccountToken", "anonymousId"], ["applicationUsername"],
                ["customerId", "applicationUsername"]]


def instant(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class Customer:
    number: int
    names: dict[str, str]
    # An original transaction that only the backend states.
    chain: str
    # The original transaction in the fake App Store; empty without a subscription there.
    bought: str = ""
    # The members of the period that was bought with an offer.
    used_offer: Object = field(default_factory=dict)
    # Purchase tokens of Google Play; the newest is the last.
    purchases: list[str] = field(default_factory=list)


class Customers:
    """A pool that is small enough that caps are reached, and that customers come back after each rotation."""

    def __init__(self, count: int, sides: Sides, dice: random.Random) -> None:
        self._sides, self._dice, self._started = sides, dice, time.time()
        self.all = [self._new(number) for number in range(count)]

    def _new(self, number: int) -> Customer:
        """A third of them each has a UUID, a SHA-256 and another text as customerId."""
        ids = [self.uuid(), hashlib.sha256(self._dice.randbytes(8)).hexdigest(), f"Customer-{number}"]
        names = {"customerId": ids[number % 3], "appAccountToken": self.uuid(), "anonymousId": self.uuid(),
                 "applicationUsername": self.uuid() if number % 2 else f"User.{number}"}
        customer = Customer(number, names, str(2_000_000_000_000_000 + number))
        if number % 2 == 0:
            self._subscribe(customer)
        if number % 3 == 0:
            self._buy_play(customer, None, daysAgo=75.5, periodDays=30)
        return customer

    def uuid(self) -> str:
        return str(uuid.UUID(int=self._dice.getrandbits(128), version=4))

    def names(self, customer: Customer) -> Object:
        """Some of the customer's names. Caps ignore letter case."""
        names = self._dice.choice(COMBINATIONS)
        spell: list[Callable[[str], str]] = [str, str.lower, str.upper]
        return {name: self._dice.choice(spell)(customer.names[name]) for name in names}

    def facts(self, customer: Customer) -> Object:
        """What a backend states. No period ends a whole number of days ago, so both sides count the same days."""
        past, future = self._started - 200.5 * DAY, self._started + 20.5 * DAY
        lapsed = {"status": "expired", "expiresAt": instant(past)}
        facts: Object = self._dice.choice([
            lapsed, lapsed, {"status": "active", "autoRenew": "off", "expiresAt": instant(future), "refundedAt": []},
            {"status": "active", "autoRenew": "on", "refundedAt": []}, {"subscribedBefore": True, "offersUsed": []},
            {"subscribedBefore": False}, {}])
        is_stated = bool(facts) and self._dice.random() < 0.4
        return facts | {"originalTransactionId": customer.chain} if is_stated else facts

    # The App Store

    def _set_customer(self, customer: Customer, subscription: Object) -> Object:
        """Every fourth customer bought without an account token."""
        token = {} if customer.number % 4 == 0 else {"appAccountToken": customer.names["appAccountToken"]}
        description = {"customer": f"customer-{customer.number}", **token, "subscriptions": [
            {"productId": MONTHLY, "subscriptionGroupIdentifier": GROUPS[MONTHLY], **subscription}]}
        first, second = (side.app_store.call("setCustomer", **description) for side in self._sides.both)
        assert first == second, f"the fakes differ: {first} {second}"
        ids: Object = first
        return ids

    def _subscribe(self, customer: Customer) -> None:
        """A subscription that ended two months ago."""
        ids = self._set_customer(customer, {"state": "expired", "endsInDays": -60.5})
        customer.bought = ids["subscriptions"][0]["originalTransactionId"]

    def use_offer(self, customer: Customer, offer: str) -> None:
        """The customer buys a third period with an offer, and the app sets the account token."""
        now = int(time.time() * 1000)
        customer.used_offer = {"purchaseDate": now, "expiresDate": now + 30 * DAY * 1000, "offerType": 2,
                               "offerIdentifier": offer, "offerDiscountType": "PAY_UP_FRONT", "price": 990,
                               "appAccountToken": customer.names["appAccountToken"]}
        self._set_newest_period(customer, "active", {})

    def refund(self, customer: Customer) -> None:
        self._set_newest_period(customer, "refunded", {"revocationDate": int(time.time() * 1000)})

    def _set_newest_period(self, customer: Customer, state: str, members: Object) -> None:
        self._set_customer(customer, {
            "state": state, "periods": 3, "startedDaysAgo": 120.5, "latestTransaction": customer.used_offer | members,
            "renewalInfo": {"renewalDate": customer.used_offer["expiresDate"]}})

    def signed(self, customer: Customer) -> tuple[Object, Object]:
        """What StoreKit gives the app on each side: the newest transaction and its renewal info."""
        calls = {"signedTransactions": "signTransaction", "signedRenewalInfo": "signRenewalInfo"}
        first, second = ({name: [side.app_store.call(call, transactionId=customer.bought)["jws"]]
                          for name, call in calls.items()} for side in self._sides.both)
        return first, second

    def signed_app(self, customer: Customer, side: int) -> Object:
        store = self._sides.both[side].app_store
        return {"signedAppTransaction": store.call("signAppTransaction", customer=f"customer-{customer.number}")["jws"]}

    def notification(self, customer: Customer, kind: str) -> tuple[str, str]:
        """The body that Apple posts to each side."""
        said = {"type": kind, "transactionId": customer.bought, "notificationUUID": self.uuid(),
                "signedDate": int(time.time() * 1000)}
        first, second = (side.app_store.call("signNotification", **said)["body"] for side in self._sides.both)
        return first, second

    # Google Play

    def _buy_play(self, customer: Customer, marks: tuple[Object, Object] | None, **arguments: Any) -> list[str]:
        """Buys with the IDs of each side's authorization; gives the ID of Google's message to each side."""
        token = "".join(self._dice.choices("abcdefghijklmnop", k=24)) + ".AO-J1O" + self._dice.randbytes(40).hex()
        customer.purchases.append(token)
        bought = {"packageName": PACKAGE, "productId": PLAY_PRODUCT, "basePlanId": PLAY_PLAN, "token": token} | arguments
        return [side.play.call("purchase", **bought, **ids)["messageIds"][0]
                for side, ids in zip(self._sides.both, marks or ({}, {}))]

    def use_play_offer(self, customer: Customer, offer: str, marks: tuple[Object, Object]) -> list[str]:
        """Buys with an offer. Half of the purchases replace the customer's purchase before."""
        replaces = {"replaces": customer.purchases[-1]} if customer.purchases and self._dice.random() < 0.5 else {}
        return self._buy_play(customer, marks, offerId=offer, **replaces)

    def play_event(self, customer: Customer, event: str) -> list[str]:
        return [side.play.call("happen", token=customer.purchases[-1], event=event)["messageIds"][0]
                for side in self._sides.both]

    def push(self, message: str, side: int) -> tuple[str, str]:
        """The body that Google posts, and the token that proves Google."""
        pushed = self._sides.both[side].play.call("pushMessage", messageId=message)
        return pushed["body"], pushed["authorization"].removeprefix("Bearer ")
