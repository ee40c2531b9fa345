# SPDX-License-Identifier: Apache-2.0
"""What happens to a purchase after it was made, and what Google then sends.

Source: https://developer.android.com/google/play/billing/lifecycle/subscriptions
"""
import purchases
from times import DAY, rfc3339

CANCELLATIONS = ("user", "system", "developer")


class Life:
    """Each public method is an event: it takes the purchase, when it is, and arguments, and returns notifications."""

    def __init__(self, store, notifications):
        self._purchases = store
        self._notifications = notifications

    def happen(self, event, purchase, at, arguments):
        """Raises ValueError for an event that there is not."""
        if event.startswith("_") or event == "happen" or not hasattr(self, event):
            raise ValueError(f"no event {event!r}; there are {', '.join(events())}")
        purchase.version += 1
        return getattr(self, event)(purchase, at, **arguments)

    def _send(self, purchase, name, at):
        return [self._notifications.of_subscription(purchase, name, at)]

    def begin(self, purchase, at):
        """Comes with the purchase itself; of a pending one nothing is said."""
        return [] if purchase.state == purchases.PENDING else self._send(purchase, "purchased", at)

    def completePending(self, purchase, at):
        """What was pending is paid."""
        purchase.state, purchase.started_at = purchases.ACTIVE, at
        for item in purchase.items:
            item.expires_at += at - purchase.made_at
        return self._send(purchase, "purchased", at)

    def cancelPending(self, purchase, at):
        purchase.state = purchases.PENDING_CANCELED
        return self._send(purchase, "pendingPurchaseCanceled", at)

    def renew(self, purchase, at, phase=None, periods=1):
        """Each item goes on into its next periods, wherever its phases take it."""
        for item in purchase.items:
            for _ in range(periods):
                name, length = item.coming.pop(0) if item.coming else (purchases.BASE_PRICE, item.period)
                item.phase, item.expires_at = name, item.expires_at + length
                item.order_number += 1
            item.phase = phase or item.phase
        self._revive(purchase)
        return self._send(purchase, "renewed", at)

    def recover(self, purchase, at):
        """Paid after all, out of the grace period, of hold or of a pause: a period begins now."""
        for item in purchase.items:
            item.expires_at, item.phase = at + item.period, purchases.BASE_PRICE
            item.order_number += 1
        self._revive(purchase)
        return self._send(purchase, "recovered", at)

    def cancel(self, purchase, at, by="user", survey=None):
        """Runs to its end and no further. The survey: members of cancelSurveyResult."""
        if by not in CANCELLATIONS:
            raise ValueError(f"{by!r} cannot cancel; expected one of {', '.join(CANCELLATIONS)}")
        for item in purchase.items:
            item.renews = False
        context = {"cancelTime": at} | ({"cancelSurveyResult": survey} if survey else {}) if by == "user" else {}
        purchase.state, purchase.cancellation = purchases.CANCELED, {f"{by}InitiatedCancellation": context}
        return self._send(purchase, "canceled", at)

    def restart(self, purchase, at):
        """The customer took the cancellation back in time."""
        self._revive(purchase)
        return self._send(purchase, "restarted", at)

    def grace(self, purchase, at, days=3):
        """Payment failed; access goes on for days."""
        purchase.state = purchases.IN_GRACE_PERIOD
        for item in purchase.items:
            item.expires_at = at + int(days * DAY)
        return self._send(purchase, "inGracePeriod", at)

    def hold(self, purchase, at):
        """Payment failed for longer: no access, and the end lies in the past, yet it still renews."""
        purchase.state = purchases.ON_HOLD
        self._end(purchase, at)
        return self._send(purchase, "onHold", at)

    def schedulePause(self, purchase, at, days=30):
        """From the end of the period on; until then nothing changes."""
        purchase.paused_until = purchase.expires_at + int(days * DAY)
        return self._send(purchase, "pauseScheduleChanged", at)

    def pause(self, purchase, at, days=30):
        purchase.state, purchase.paused_until = purchases.PAUSED, at + int(days * DAY)
        self._end(purchase, at)
        return self._send(purchase, "paused", at)

    def defer(self, purchase, at, days=30):
        """The developer moved the next payment."""
        for item in purchase.items:
            item.expires_at += int(days * DAY)
        return self._send(purchase, "deferred", at)

    def expire(self, purchase, at, by=None):
        """It ended now, cancelled by `by`; without it by an earlier cancellation, or else by the system."""
        self._expire(purchase, at, by)
        return self._send(purchase, "expired", at)

    def revoke(self, purchase, at, by="system", refundType=1):
        """The money went back: a purchase without a future, and two messages about it."""
        self._expire(purchase, at, by)
        return self._send(purchase, "revoked", at) + self.void(purchase, at, refundType)

    def void(self, purchase, at, refundType=1):
        """Money went back, all of it (1) or a part (2), and the purchase goes on."""
        voided = {
            "purchaseToken": purchase.token, "orderId": purchase.order_id, "productType": 1, "refundType": refundType,
        }
        return [self._notifications.add(purchase.package_name, at, "voidedPurchaseNotification", voided)]

    def scheduleCancellation(self, purchase, at):
        """Of installments: it stays active until what was promised is paid."""
        for item in purchase.items:
            plan = item.members.setdefault("autoRenewingPlan", {})
            plan.setdefault("installmentDetails", {})["pendingCancellation"] = {}
        return self._send(purchase, "cancellationScheduled", at)

    def addItem(self, purchase, at, **description):
        item = self._purchases.make_item(purchase.package_name, description, at)
        purchase.items.append(item)
        return self._send(purchase, "itemsChanged", at)

    def changePrice(self, purchase, at, units=12, state="OUTSTANDING"):
        details = {
            "newPrice": {"currencyCode": "USD", "units": str(units)},
            "priceChangeMode": "PRICE_INCREASE",
            "priceChangeState": state,
            "expectedNewPriceChargeTime": rfc3339(purchase.expires_at),
        }
        for item in purchase.items:
            item.members.setdefault("autoRenewingPlan", {})["priceChangeDetails"] = details
        return self._send(purchase, "priceChangeUpdated", at)

    def stepUpPrice(self, purchase, at, state="PENDING", units=12, days=7):
        """Asks whether the customer agrees to a higher price (South Korea), or reports the answer."""
        details = {
            "state": state,
            "consentDeadlineTime": rfc3339(at + int(days * DAY)),
            "newPrice": {"currencyCode": "KRW", "units": str(units)},
        }
        for item in purchase.items:
            item.members.setdefault("autoRenewingPlan", {})["priceStepUpConsentDetails"] = details
        return self._send(purchase, "priceStepUpConsentUpdated", at)

    def acknowledge(self, purchase, at):
        """Also removes the details of a purchase outside the app."""
        purchase.is_acknowledged, purchase.out_of_app = True, None
        return []

    def delete(self, purchase, at):
        """With the customer's account: 410 from now on."""
        purchase.is_deleted = True
        return []

    def replace(self, purchase, at, by, mode="WITH_TIME_PRORATION"):
        """Another purchase, made at the same time, took its place. The new one's message comes first."""
        self._expire(purchase, at, None)
        purchase.cancellation = {"replacementCancellation": {}}
        old = purchase.items[0]
        replacement = {"productId": old.product_id, "basePlanId": old.base_plan_id, "replacementMode": mode}
        by.items[0].members["itemReplacement"] = replacement | ({"offerId": old.offer_id} if old.offer_id else {})
        by.linked_token = purchase.token
        return self._send(purchase, "expired", at)

    @staticmethod
    def _revive(purchase):
        purchase.state, purchase.cancellation, purchase.paused_until = purchases.ACTIVE, None, None
        for item in purchase.items:
            item.renews = item.kind != "prepaid"

    def _expire(self, purchase, at, by):
        self._end(purchase, at)
        purchase.state = purchases.EXPIRED
        for item in purchase.items:
            item.renews = False
        if by or purchase.cancellation is None:
            context = {"cancelTime": at} if by == "user" else {}
            purchase.cancellation = {f"{by or 'system'}InitiatedCancellation": context}

    @staticmethod
    def _end(purchase, at):
        for item in purchase.items:
            item.expires_at = min(item.expires_at, at)


def events():
    return [name for name in vars(Life) if name[0] != "_" and name != "happen"]
