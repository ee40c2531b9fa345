# SPDX-License-Identifier: Apache-2.0
"""Get Transaction History: filters and pages.

Source: https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history
"""
import hashlib
import itertools
import json

import jws
from errors import APIError
from store import modified

PAGE_SIZE = 20
PRODUCT_TYPES = {
    "AUTO_RENEWABLE": "Auto-Renewable Subscription",
    "NON_RENEWABLE": "Non-Renewing Subscription",
    "CONSUMABLE": "Consumable",
    "NON_CONSUMABLE": "Non-Consumable",
}
# Ids of transactions made up for endless pages.
_endless_ids = itertools.count(9_000_000_000_000_001)


class HistoryQuery:
    """The query of one request. A revision is only good with the customer and the filters it came from."""

    def __init__(self, pairs, identifier):
        self._values = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)
        self._revision = self._one("revision")
        filters = sorted((name, value) for name, value in pairs if name != "revision")
        self._fingerprint = hashlib.sha256(jws.to_json([filters, identifier])).hexdigest()[:16]

    def select(self, transactions):
        """What the filters leave, in the order asked for."""
        found = [transaction for transaction in transactions if self._is_wanted(transaction)]
        sort = self._choice("sort", {"ASCENDING": False, "DESCENDING": True}, 4000021)
        return sorted(found, key=modified, reverse=bool(sort))

    def page(self, transactions, repeats=False):
        """A page, the revision behind it, and whether there is more; the page again and again if it repeats."""
        start = self._start()
        end = min(start + PAGE_SIZE, len(transactions))
        page = transactions[start:end]
        return (page, self._token(start), True) if repeats else (page, self._token(end), end < len(transactions))

    def endless_page(self, transactions):
        """Twenty more transactions with ids never used before, and always more to come."""
        start = self._start()
        if not transactions:
            return [], self._token(start + PAGE_SIZE), True
        page = [dict(transactions[index % len(transactions)]) for index in range(PAGE_SIZE)]
        for transaction in page:
            transaction["transactionId"] = str(next(_endless_ids))
        return page, self._token(start + PAGE_SIZE), True

    def _is_wanted(self, transaction):
        groups, products = self._values.get("subscriptionGroupIdentifier"), self._values.get("productId")
        types = [self._known(PRODUCT_TYPES, value, 4000022) for value in self._values.get("productType", [])]
        ownership = self._choice("inAppOwnershipType", {n: n for n in ("PURCHASED", "FAMILY_SHARED")}, 4000026)
        revoked = self._choice("revoked", {"true": True, "false": False}, 4000030)
        start, end = self._date("startDate", 4000015), self._date("endDate", 4000016)
        if start is not None and end is not None and start > end:
            raise APIError(4000013)
        return (
            (not groups or transaction.get("subscriptionGroupIdentifier") in groups)
            and (not products or transaction["productId"] in products)
            and (not types or transaction["type"] in types)
            and (ownership is None or transaction["inAppOwnershipType"] == ownership)
            and (revoked is None or ("revocationDate" in transaction) == revoked)
            and (start is None or modified(transaction) >= start)
            and (end is None or modified(transaction) < end)
        )

    def _one(self, name):
        values = self._values.get(name, [])
        if len(values) > 1:
            raise APIError(4000000)
        return values[0] if values else None

    def _choice(self, name, choices, code):
        value = self._one(name)
        return None if value is None else self._known(choices, value, code)

    @staticmethod
    def _known(choices, value, code):
        if value not in choices:
            raise APIError(code)
        return choices[value]

    def _date(self, name, code):
        value = self._one(name)
        if value is None:
            return None
        if not (value.isascii() and value.isdigit()):
            raise APIError(code)
        return int(value)

    def _token(self, offset):
        return jws.to_base64url(jws.to_json([offset, self._fingerprint]))

    def _start(self):
        if self._revision is None:
            return 0
        try:
            offset, fingerprint = json.loads(jws.from_base64url(self._revision))
        except (ValueError, TypeError) as error:
            raise APIError(4000005) from error
        if fingerprint != self._fingerprint:
            raise APIError(4000005)
        return offset
