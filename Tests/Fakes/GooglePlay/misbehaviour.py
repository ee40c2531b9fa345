# SPDX-License-Identifier: Apache-2.0
"""The mistakes that a test can request from the fake Google Play, besides those of every fake."""
from api import Lies
from errors import OAuthError, error_answer, oauth_error_answer
from messages import Answer
from rudeness import Plan, instead


def _error(arguments):
    """An error of the API by its reason; status and message as the caller says, or as usual."""
    return instead(error_answer(arguments["reason"], arguments.get("message"), arguments.get("status")))


def _oauth_error(arguments):
    """An error of the token endpoint by its code."""
    error = OAuthError(arguments["code"], arguments.get("description"), arguments.get("status", 400))
    return instead(oauth_error_answer(error))


def _rate_limit(arguments):
    """429, with a Retry-After of seconds or of any text, or without."""
    retry_after = arguments.get("retryAfter")
    headers = [] if retry_after is None else [("retry-after", str(retry_after))]
    return instead(error_answer("quotaExceeded", headers=headers))


def _wrong_shape(arguments):
    """Good JSON, but every member is of another type."""
    body = (
        b'{"subscriptions":{"a":1},"subscriptionOffers":"none","nextPageToken":[7],"lineItems":7,'
        b'"subscriptionState":{},"keys":"none","access_token":{"a":1},"expires_in":"soon","token_type":7,'
        b'"tokenPayloadExternal":{"requestDetails":{"timestampMillis":"soon"},"appIntegrity":7}}'
    )
    return Plan(change=lambda answer: Answer(200, body))


def _other_members(arguments):
    """Answers with other members: another packageName, another offerId."""
    return Plan(lies=Lies(members=tuple(arguments["members"].items())))


KINDS = {
    "error": _error,
    "oauthError": _oauth_error,
    "rateLimit": _rate_limit,
    "wrongShape": _wrong_shape,
    "otherMembers": _other_members,
    "otherPurchase": lambda arguments: Plan(lies=Lies(about=arguments["token"])),
    "repeatedPage": lambda arguments: Plan(lies=Lies(repeats_page=True)),
    "endlessPages": lambda arguments: Plan(lies=Lies(has_endless_pages=True)),
    "emptyPage": lambda arguments: Plan(lies=Lies(has_empty_page=True)),
    "lostTargeting": lambda arguments: Plan(lies=Lies(loses_targeting=True)),
    "unknownMembers": lambda arguments: Plan(lies=Lies(unknown_members=True)),
    "unknownValues": lambda arguments: Plan(lies=Lies(unknown_values=True)),
}
