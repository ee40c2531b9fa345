# SPDX-License-Identifier: Apache-2.0
"""What the stores report to both services of `differential`: purchases with offers, refunds and ends."""
import random
from collections.abc import Callable
from dataclasses import dataclass

from differential_catalog import MONTHLY
from differential_customers import Customer, Customers, Object
from differential_sides import Ask, both


@dataclass(frozen=True)
class Granted:
    """A grant of both sides: the request's body, and each side's answer."""
    customer: Customer
    body: Object
    answers: tuple[Object, Object]

    @property
    def is_google_play(self) -> bool:
        return "packageName" in self.body


class StoreReports:
    """Each method gives a report, or None while there is nothing to report."""

    def __init__(self, customers: Customers, granted: list[Granted], dice: random.Random) -> None:
        self._pool, self._granted, self._dice = customers, granted, dice

    def _grant(self, accepts: Callable[[Granted], bool]) -> Granted | None:
        found = [grant for grant in self._granted if accepts(grant)]
        return self._dice.choice(found) if found else None

    def _customer(self, accepts: Callable[[Customer], object]) -> Customer | None:
        found = [customer for customer in self._pool.all if accepts(customer)]
        return self._dice.choice(found) if found else None

    def purchase(self) -> Ask | None:
        """A customer of the App Store buys with a signature. The purchase names the account that was signed."""
        def can_be_used(grant: Granted) -> bool:
            return (bool(grant.customer.bought) and not grant.customer.used_offer and "appAccountToken" in grant.body
                    and grant.body["productId"] == MONTHLY and "offerId" in grant.body)

        grant = self._grant(lambda grant: not grant.is_google_play and can_be_used(grant))
        if grant is None:
            return None
        self._pool.use_offer(grant.customer, grant.body["offerId"])
        return self._notified(grant.customer, "SUBSCRIBED")

    def refund(self) -> Ask | None:
        customer = self._customer(lambda customer: customer.used_offer)
        if customer is None:
            return None
        self._pool.refund(customer)
        return self._notified(customer, "REFUND")

    def _notified(self, customer: Customer, kind: str) -> Ask:
        body = self._pool.notification(customer, kind)
        return Ask("notification", ("/v1/notifications/app-store",) * 2, body, caller="", customer=customer.number)

    def play_purchase(self) -> Ask | None:
        grant = self._grant(lambda grant: grant.is_google_play)
        if grant is None:
            return None
        names = ("obfuscatedAccountId", "obfuscatedProfileId")
        first, second = ({name: answer[name] for name in names} for answer in grant.answers)
        messages = self._pool.use_play_offer(grant.customer, grant.body["offerId"], (first, second))
        return self._pushed(grant.customer, messages)

    def play_event(self) -> Ask | None:
        customer = self._customer(lambda customer: customer.purchases)
        if customer is None:
            return None
        event = self._dice.choice(["cancel", "expire", "revoke"])
        return self._pushed(customer, self._pool.play_event(customer, event))

    def _pushed(self, customer: Customer, messages: list[str]) -> Ask:
        pushes = [self._pool.push(message, side) for side, message in enumerate(messages)]
        body, bearer = (both(lambda side: pushes[side][part]) for part in (0, 1))
        return Ask("push message", ("/v1/notifications/google-play",) * 2, body, caller="", bearer=bearer,
                   customer=customer.number)
