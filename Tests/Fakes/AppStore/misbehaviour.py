# SPDX-License-Identifier: Apache-2.0
"""The mistakes that a test can request from the fake App Store, besides those of every fake."""
import payloads
from api import APILies
from errors import error_answer
from messages import Answer
from rudeness import Plan, instead
from signed_data import Lies


def _error(arguments):
    """An error of the API by its code."""
    return instead(error_answer(arguments.get("code", 5000000)))


def _rate_limit(arguments):
    """429; `retryAfter` as text, `retryAfterMilliseconds` from now, or no Retry-After at all."""
    headers = []
    if "retryAfterMilliseconds" in arguments:
        headers = [("retry-after", str(payloads.now() + arguments["retryAfterMilliseconds"]))]
    if "retryAfter" in arguments:
        headers = [("retry-after", arguments["retryAfter"])]
    return instead(error_answer(4290000, headers))


def _unauthorized(arguments):
    return instead(Answer(401))


def _wrong_shape(arguments):
    """Good JSON, but every member is of another type."""

    def change(answer):
        body = b'{"data":{"a":1},"signedTransactions":"none","signedTransactionInfo":7,"hasMore":"yes","revision":[]}'
        return Answer(200, body)

    return Plan(change=change)


def _stale(arguments):
    """Signed data that says it was signed long ago."""
    days = arguments.get("days", 30)
    return Plan(lies=APILies(signed=Lies(stale_milliseconds=int(days * payloads.DAY))))


def _fault(arguments):
    """Signed data with a fault (see signer.py)."""
    return Plan(lies=APILies(signed=Lies(fault=arguments["fault"])))


def _other_customer(arguments):
    """Answers about another transaction than the one asked for."""
    return Plan(lies=APILies(about=arguments["transactionId"]))


KINDS = {
    "error": _error,
    "rateLimit": _rate_limit,
    "unauthorized": _unauthorized,
    "wrongShape": _wrong_shape,
    "stale": _stale,
    "fault": _fault,
    "otherCustomer": _other_customer,
    "notFound": lambda arguments: instead(error_answer(4040010)),
    "extraMembers": lambda arguments: Plan(lies=APILies(signed=Lies(extra_members=True))),
    "unknownValues": lambda arguments: Plan(lies=APILies(signed=Lies(unknown_values=True))),
    "repeatedPage": lambda arguments: Plan(lies=APILies(repeats_page=True)),
    "endlessPages": lambda arguments: Plan(lies=APILies(has_endless_pages=True)),
}
