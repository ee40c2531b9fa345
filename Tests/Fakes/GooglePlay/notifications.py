# SPDX-License-Identifier: Apache-2.0
"""Real-time developer notifications, before they are wrapped and signed.

Source: https://developer.android.com/google/play/billing/rtdn-reference
"""
import itertools
from dataclasses import dataclass

TYPES = {
    "recovered": 1,
    "renewed": 2,
    "canceled": 3,
    "purchased": 4,
    "onHold": 5,
    "inGracePeriod": 6,
    "restarted": 7,
    "priceChangeConfirmed": 8,
    "deferred": 9,
    "paused": 10,
    "pauseScheduleChanged": 11,
    "revoked": 12,
    "expired": 13,
    "itemsChanged": 17,
    "cancellationScheduled": 18,
    "priceChangeUpdated": 19,
    "pendingPurchaseCanceled": 20,
    "priceStepUpConsentUpdated": 22,
}


@dataclass(frozen=True)
class Notification:
    """A message of Pub/Sub: its id, when it was published, and the DeveloperNotification in it."""

    message_id: str
    published_at: int
    content: dict


class Notifications:
    """All that were caused, from the first."""

    def __init__(self, clock):
        self._clock = clock
        self._numbers = itertools.count(11_000_000_000_000_001)
        self.all = []

    def clear(self):
        """Forgets them, but gives no id a second time."""
        self.all.clear()

    def of_subscription(self, purchase, name, at):
        """What Google sends of a purchase; the member subscriptionId is still sent, though undocumented now."""
        return self.add(
            purchase.package_name,
            at,
            "subscriptionNotification",
            {
                "version": "1.0",
                "notificationType": TYPES[name],
                "purchaseToken": purchase.token,
                "subscriptionId": purchase.items[0].product_id,
            },
        )

    def add(self, package_name, at, kind, body):
        content = {"version": "1.0", "packageName": package_name, "eventTimeMillis": str(at), kind: body}
        notification = Notification(str(next(self._numbers)), self._clock.now(), content)
        self.all.append(notification)
        return notification

    def find(self, message_id):
        """Raises ValueError."""
        for notification in self.all:
            if notification.message_id == message_id:
                return notification
        raise ValueError(f"no notification {message_id!r}")
