# SPDX-License-Identifier: Apache-2.0
"""Purchases of subscriptions and their lives."""
import itertools
import secrets
from dataclasses import dataclass, field

from times import DAY, milliseconds_of

DAYS_UNTIL_GONE = 60
ACTIVE, CANCELED, EXPIRED = "ACTIVE", "CANCELED", "EXPIRED"
PENDING, PENDING_CANCELED = "PENDING", "PENDING_PURCHASE_CANCELED"
IN_GRACE_PERIOD, ON_HOLD, PAUSED = "IN_GRACE_PERIOD", "ON_HOLD", "PAUSED"
FREE_TRIAL, INTRODUCTORY_PRICE, BASE_PRICE = "freeTrial", "introductoryPrice", "basePrice"


@dataclass
class Item:
    """What one line of a purchase is for, and until when."""

    product_id: str
    base_plan_id: str
    offer_id: str | None
    kind: str
    expires_at: int
    renews: bool
    # The phases still to come, as (name, milliseconds); the base plan's follows without end.
    coming: list
    period: int
    phase: str | None = BASE_PRICE
    order_number: int = 0
    # Members that differ.
    members: dict = field(default_factory=dict)


@dataclass
class Purchase:
    token: str
    package_name: str
    order_id: str
    items: list
    made_at: int
    # None while it is pending.
    started_at: int | None
    state: str = ACTIVE
    region: str = "US"
    is_test: bool = False
    is_acknowledged: bool = True
    is_deleted: bool = False
    linked_token: str | None = None
    account_id: str | None = None
    profile_id: str | None = None
    # The member of canceledStateContext.
    cancellation: dict | None = None
    paused_until: int | None = None
    out_of_app: dict | None = None
    # (path, value): what differs in the answer, in this order.
    edits: list = field(default_factory=list)
    version: int = 0

    @property
    def expires_at(self):
        return max(item.expires_at for item in self.items)

    def state_at(self, now):
        """A cancelled one expires by itself."""
        return EXPIRED if self.state == CANCELED and self.expires_at <= now else self.state

    def is_gone(self, now):
        """No longer to be asked for."""
        has_ended = self.state_at(now) in (EXPIRED, PENDING_CANCELED)
        return self.is_deleted or has_ended and self.expires_at + DAYS_UNTIL_GONE * DAY < now


class Purchases:
    """By token, which stays unknown to other apps."""

    def __init__(self, catalog, clock):
        self._catalog = catalog
        self._clock = clock
        self._orders = itertools.count(1)
        self._by_token = {}

    def clear(self):
        self._by_token.clear()

    def find(self, token):
        return self._by_token.get(token)

    def get(self, token):
        """Raises ValueError."""
        if token not in self._by_token:
            raise ValueError("no purchase has the token")
        return self._by_token[token]

    def make(self, description, at):
        """A purchase from what `purchase` says of it (see README.md)."""
        is_pending = description.get("pending", False)
        token = description.get("token") or new_token()
        if token in self._by_token:
            raise ValueError("the token is another purchase's")
        purchase = Purchase(
            token=token,
            package_name=description["packageName"],
            order_id=f"GPA.3300-0000-0000-{next(self._orders):05}",
            items=[],
            made_at=at,
            started_at=None if is_pending else at,
            state=PENDING if is_pending else ACTIVE,
            region=description.get("region", "US"),
            is_test=description.get("isTest", False),
            is_acknowledged=description.get("isAcknowledged", not is_pending),
            linked_token=description.get("linkedToken"),
            account_id=description.get("obfuscatedAccountId"),
            profile_id=description.get("obfuscatedProfileId"),
        )
        for item in description.get("items") or [description]:
            purchase.items.append(self.make_item(purchase.package_name, item, at))
        self._by_token[token] = purchase
        return purchase

    def make_item(self, package_name, description, at):
        """An item that begins then, in the first phase of its offer."""
        ids = description["productId"], description["basePlanId"]
        kind, period = self._plan(package_name, *ids)
        period = int(description["periodDays"] * DAY) if "periodDays" in description else period
        offer_id = description.get("offerId")
        phases = self._phases(package_name, *ids, offer_id) + [(BASE_PRICE, period)]
        name, length = phases[0]
        return Item(
            product_id=ids[0],
            base_plan_id=ids[1],
            offer_id=offer_id,
            kind=description.get("kind", kind),
            expires_at=at + length,
            renews=description.get("kind", kind) != "prepaid",
            coming=phases[1:],
            period=period,
            phase=name,
            members=description.get("members", {}),
        )

    def _plan(self, package_name, product_id, base_plan_id):
        plan = self._catalog.base_plan(package_name, product_id, base_plan_id) or {}
        for kind in ("prepaid", "installments", "autoRenewing"):
            if plan_type := plan.get(f"{kind}BasePlanType"):
                return kind, milliseconds_of(plan_type.get("billingPeriodDuration", "P1M"))
        return "autoRenewing", 30 * DAY

    def _phases(self, package_name, product_id, base_plan_id, offer_id):
        """Each period of each phase that the catalog has; one free week for an offer that it does not have."""
        if not offer_id:
            return []
        offer = self._catalog.offer(package_name, product_id, base_plan_id, offer_id)
        if offer is None:
            return [(FREE_TRIAL, 7 * DAY)]
        periods = []
        for phase in offer.get("phases", []):
            is_free = any("free" in region for region in phase.get("regionalConfigs", []))
            period = (FREE_TRIAL if is_free else INTRODUCTORY_PRICE, milliseconds_of(phase["duration"]))
            periods += [period] * phase.get("recurrenceCount", 1)
        return periods


def new_token():
    """Of the looks of Google's."""
    letters = "abcdefghijklmnop"
    return "".join(secrets.choice(letters) for _ in range(24)) + ".AO-J1O" + secrets.token_urlsafe(86)[:108]
