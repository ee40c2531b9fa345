# SPDX-License-Identifier: Apache-2.0
"""The App Store Server API's error codes that the fake can answer with.

Source: https://developer.apple.com/documentation/appstoreserverapi/error-codes
"""
import jws
from messages import Answer

# Code: its message, in our words.
MESSAGES = {
    4000000: "Bad request.",
    4000002: "Invalid app identifier.",
    4000005: "Invalid request revision.",
    4000006: "Invalid transaction id.",
    4000008: "Invalid original transaction id.",
    4000013: "The start date is after the end date.",
    4000014: "Invalid pagination token.",
    4000015: "Invalid start date.",
    4000016: "Invalid end date.",
    4000018: "Invalid notification type or subtype.",
    4000019: "Only one of transaction id and notification type may be supplied.",
    4000020: "Invalid test notification token.",
    4000021: "Invalid sort.",
    4000022: "Invalid product type.",
    4000023: "Invalid product id.",
    4000024: "Invalid subscription group identifier.",
    4000026: "Invalid in-app ownership type.",
    4000030: "Invalid revoked value.",
    4000031: "Invalid status.",
    4000048: "An app transaction id is not supported here.",
    4000183: "The app account token is not a UUID.",
    4000185: "A transaction of Family Sharing is not supported here.",
    4000187: "The transaction id is not an original one.",
    4000211: "Invalid performance test request.",
    4000212: "Invalid request id.",
    4000213: "A performance test runs already.",
    4040001: "Account not found.",
    4040002: "Account not found. Please try again.",
    4040003: "App not found.",
    4040004: "App not found. Please try again.",
    4040005: "Original transaction id not found.",
    4040006: "Original transaction id not found. Please try again.",
    4040007: "No notification URL found for the app.",
    4040008: "Test notification not found.",
    4040010: "Transaction id not found.",
    4040018: "Performance test not found.",
    4040019: "No app transaction exists for the customer.",
    4040020: "Default message not found.",
    4040021: "Real-time URL not found.",
    4290000: "Rate limit exceeded.",
    5000000: "An unknown error occurred.",
    5000001: "An unknown error occurred. Please try again.",
}


class APIError(Exception):
    """Ends a request with an error; its code begins with the HTTP status."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def error_answer(code, headers=()):
    """The answer for a code, also for an unknown one."""
    body = {"errorCode": code, "errorMessage": MESSAGES.get(code, "Something else.")}
    status = int(str(code)[:3])
    return Answer(status if 400 <= status <= 599 else 500, jws.to_json(body), extra_headers=list(headers))
