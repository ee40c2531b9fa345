# SPDX-License-Identifier: Apache-2.0
"""What the App Store says of a subscription: transactions, renewal info and status, built from a short description.

Source of the members: https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload and
https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload. Times are in milliseconds.
"""
import time
from dataclasses import dataclass

DAY = 86_400_000
ACTIVE, EXPIRED, BILLING_RETRY, GRACE_PERIOD, REVOKED = 1, 2, 3, 4, 5


@dataclass(frozen=True)
class State:
    """The state of a subscription, and what its latest transaction and its renewal info contain in that state."""

    status: int
    # When the latest period ends, in days from now.
    ends_in_days: float
    renews: bool
    transaction: dict
    renewal: dict


# revocationDate is put where a reason is.
STATES = {
    "active": State(ACTIVE, 10, True, {}, {}),
    "notRenewing": State(ACTIVE, 10, False, {}, {}),
    "expired": State(EXPIRED, -40, False, {}, {"expirationIntent": 1, "isInBillingRetryPeriod": False}),
    "billingRetry": State(BILLING_RETRY, -5, True, {}, {"expirationIntent": 2, "isInBillingRetryPeriod": True}),
    "gracePeriod": State(
        GRACE_PERIOD,
        -2,
        True,
        {},
        {"expirationIntent": 2, "isInBillingRetryPeriod": True, "gracePeriodExpiresDate": 14 * DAY},
    ),
    "revoked": State(
        REVOKED,
        10,
        False,
        {"inAppOwnershipType": "FAMILY_SHARED", "revocationReason": 0, "revocationType": "FAMILY_REVOKE"},
        {},
    ),
    "refunded": State(
        REVOKED,
        10,
        False,
        {"revocationReason": 1, "revocationType": "REFUND_FULL", "revocationPercentage": 100_000},
        {"expirationIntent": 1, "isInBillingRetryPeriod": False},
    ),
    "familyShared": State(ACTIVE, 10, True, {"inAppOwnershipType": "FAMILY_SHARED"}, {}),
    # The latest transaction is of the better product; the one before it says that it was upgraded.
    "upgraded": State(ACTIVE, 10, True, {}, {}),
}


def now():
    return int(time.time() * 1000)


@dataclass
class Subscription:
    """One chain: its transactions from the first to the latest, without the time they are signed at."""

    original_id: str
    group: str
    status: int
    transactions: list
    renewal: dict

    @property
    def latest(self):
        return self.transactions[-1]


def build_subscription(customer, description, original_id):
    """A subscription from what `setCustomer` says of it (see README.md)."""
    at = customer.made_at
    name = description.get("state", "active")
    if name not in STATES:
        raise ValueError(f"no state {name!r}; there are {', '.join(STATES)}")
    state = STATES[name]
    group = description.get("subscriptionGroupIdentifier", "20000001")
    common = _common_members(customer, description, original_id, group)
    transactions = _periods(description, state, common, at)
    _place_offers(description, transactions)
    _finish_latest(name, description, state, transactions, at)
    renewal = _renewal(customer, description, state, transactions[-1], at)
    merge(renewal, description.get("renewalInfo"))
    for transaction in transactions:
        merge(transaction, description.get("allTransactions"))
    merge(transactions[-1], description.get("latestTransaction"))
    return Subscription(original_id, group, description.get("status", state.status), transactions, renewal)


def merge(members, changes):
    """Sets members, or takes away those set to null."""
    for name, value in (changes or {}).items():
        if value is None:
            members.pop(name, None)
        else:
            members[name] = value


def _common_members(customer, description, original_id, group):
    members = {
        "originalTransactionId": original_id,
        "bundleId": customer.bundle_id,
        "productId": description.get("productId", "com.example.monthly"),
        "subscriptionGroupIdentifier": group,
        "quantity": 1,
        "type": "Auto-Renewable Subscription",
        "inAppOwnershipType": description.get("ownership", "PURCHASED"),
        "environment": customer.environment,
        "storefront": customer.storefront,
        "storefrontId": "143441",
        "currency": "USD",
        "price": 9990,
        "appTransactionId": customer.app_transaction_id,
    }
    if customer.app_account_token:
        members["appAccountToken"] = customer.app_account_token
    return members


def _periods(description, state, common, at):
    """One transaction for each period paid, the latest one ending as the state says."""
    length = int(description.get("periodDays", 30) * DAY)
    offers = description.get("offers", [])
    count = max(int(description.get("periods", 2)), len(offers), 1)
    starts = _starts(description, state, count, length, at)
    transactions = []
    for index, start in enumerate(starts):
        transaction_id = str(int(common["originalTransactionId"]) + index)
        transactions.append(
            common
            | {
                "transactionId": transaction_id,
                "webOrderLineItemId": str(int(transaction_id) + 500),
                "purchaseDate": start,
                "originalPurchaseDate": starts[0],
                "expiresDate": start + length,
                "transactionReason": "RENEWAL" if index and start == starts[index - 1] + length else "PURCHASE",
            }
        )
    return transactions


def _starts(description, state, count, length, at):
    """When the periods begin: `startedDaysAgo` days ago, or such that the latest one ends when it has to.

    They follow each other, but for a gap before the latest if the customer had left and came back.
    """
    gap = int(description.get("returnedAfterDays", 0) * DAY)
    if "startedDaysAgo" in description:
        start = at - int(description["startedDaysAgo"] * DAY)
    else:
        start = at + int(description.get("endsInDays", state.ends_in_days) * DAY) - count * length - gap
    return [start + index * length + (gap if index and index == count - 1 else 0) for index in range(count)]


def _place_offers(description, transactions):
    """Puts each offer on the period it names (negative: from the end), or on the next one."""
    for index, offer in enumerate(description.get("offers", [])):
        transaction = transactions[offer.get("period", index)]
        merge(transaction, {name: value for name, value in offer.items() if name != "period"})


def _finish_latest(name, description, state, transactions, at):
    latest = transactions[-1]
    merge(latest, state.transaction)
    if "revocationReason" in state.transaction:
        latest["revocationDate"] = at - int(description.get("revokedDaysAgo", 1) * DAY)
    if state.transaction.get("inAppOwnershipType"):
        for transaction in transactions:
            transaction["inAppOwnershipType"] = state.transaction["inAppOwnershipType"]
    if name == "upgraded" and len(transactions) > 1:
        transactions[-2]["isUpgraded"] = True
        latest["productId"] = description.get("upgradedProductId", latest["productId"] + ".plus")


def _renewal(customer, description, state, latest, at):
    renews = description.get("autoRenews", state.renews)
    members = {
        "originalTransactionId": latest["originalTransactionId"],
        "autoRenewProductId": latest["productId"],
        "productId": latest["productId"],
        "autoRenewStatus": 1 if renews else 0,
        "environment": customer.environment,
        "recentSubscriptionStartDate": _recent_start(description, latest),
        "appTransactionId": customer.app_transaction_id,
        "currency": latest["currency"],
        # Always there, also of what has expired: the end of the latest period.
        "renewalDate": latest["expiresDate"],
    }
    if renews:
        members["renewalPrice"] = latest["price"]
    if customer.app_account_token:
        members["appAccountToken"] = customer.app_account_token
    members |= state.renewal
    if "gracePeriodExpiresDate" in members:
        members["gracePeriodExpiresDate"] += at
    return members


def _recent_start(description, latest):
    """Gaps of less than 60 days do not count."""
    has_returned = description.get("returnedAfterDays", 0) >= 60
    return latest["purchaseDate" if has_returned else "originalPurchaseDate"]
