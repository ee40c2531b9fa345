# SPDX-License-Identifier: Apache-2.0
"""Get Notification History: filters and pages.

Source: https://developer.apple.com/documentation/appstoreserverapi/get-notification-history
"""
import json
from dataclasses import dataclass

import jws
import payloads
from errors import APIError

PAGE_SIZE = 20
LONGEST_DAYS = 180


@dataclass(frozen=True)
class HistoryItem:
    """A notification that was sent, as often as the results say."""

    signed_payload: str
    signed_date: int
    kind: str
    subtype: str | None
    transaction_ids: frozenset
    bundle_id: str | None
    # From the first attempt, an hour apart; "SUCCESS" is the only good one.
    results: tuple

    @property
    def failed(self):
        return "SUCCESS" not in self.results

    @property
    def public(self):
        attempts = [
            {"attemptDate": self.signed_date + index * 3_600_000, "sendAttemptResult": result}
            for index, result in enumerate(self.results)
        ]
        return {"signedPayload": self.signed_payload, "sendAttempts": attempts}


class NotificationQuery:
    """The body and the token of one request."""

    def __init__(self, body, pairs):
        self._body = body
        self._token = dict(pairs).get("paginationToken")
        self._check()

    def _check(self):
        start, end = self._body.get("startDate"), self._body.get("endDate")
        if type(start) is not int or start < payloads.now() - (LONGEST_DAYS + 1) * payloads.DAY:
            raise APIError(4000015)
        if type(end) is not int:
            raise APIError(4000016)
        if start > end:
            raise APIError(4000013)
        if "transactionId" in self._body and "notificationType" in self._body:
            raise APIError(4000019)
        if "notificationSubtype" in self._body and "notificationType" not in self._body:
            raise APIError(4000018)

    def select(self, items):
        return [item for item in items if self._is_wanted(item)]

    def page(self, items, lies):
        """A page and the token of the next one, None at the end."""
        start = self._start()
        page = items[start : start + PAGE_SIZE]
        if lies.repeats_page:
            return page, self._make_token(start)
        if lies.has_endless_pages:
            return items[:PAGE_SIZE], self._make_token(start + PAGE_SIZE)
        end = start + PAGE_SIZE
        return page, self._make_token(end) if end < len(items) else None

    def _is_wanted(self, item):
        body = self._body
        return (
            body["startDate"] <= item.signed_date <= body["endDate"]
            and body.get("notificationType", item.kind) == item.kind
            and body.get("notificationSubtype", item.subtype) == item.subtype
            and (body.get("transactionId") is None or body["transactionId"] in item.transaction_ids)
            and (not body.get("onlyFailures") or item.failed)
        )

    @staticmethod
    def _make_token(offset):
        return jws.to_base64url(jws.to_json({"offset": offset}))

    def _start(self):
        if self._token is None:
            return 0
        try:
            return int(json.loads(jws.from_base64url(self._token))["offset"])
        except (ValueError, TypeError, KeyError) as error:
            raise APIError(4000014) from error
