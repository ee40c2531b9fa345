# SPDX-License-Identifier: Apache-2.0
"""Errors as Google's servers word them.

Source: https://developers.google.com/android-publisher/errors and
https://developers.google.com/identity/protocols/oauth2/service-account#error-codes
"""
import jws
from messages import Answer

# Reason: HTTP status, message, canonical status (None: the answer has none), where.
REASONS = {
    "invalid": (400, "Invalid Value", None, None),
    "badRequest": (400, "Bad Request.", "INVALID_ARGUMENT", None),
    "invalidPageToken": (400, "The page token is invalid.", "INVALID_ARGUMENT", None),
    "purchaseTokenDoesNotMatchPackageName": (
        400, "The purchase token does not match the package name.", None, "token",
    ),
    "required": (
        401,
        "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other "
        "valid authentication credential.",
        "UNAUTHENTICATED",
        "Authorization",
    ),
    "authError": (401, "Invalid Credentials", "UNAUTHENTICATED", "Authorization"),
    "permissionDenied": (
        401, "The current user has insufficient permissions to perform the requested operation.", None, None,
    ),
    "insufficientPermissions": (
        403, "Request had insufficient authentication scopes.", "PERMISSION_DENIED", None,
    ),
    "accessNotConfigured": (
        403, "Google Play Android Developer API has not been used in project 1 before or it is disabled.",
        "PERMISSION_DENIED", None,
    ),
    "rateLimitExceeded": (403, "Rate Limit Exceeded", None, None),
    "userRateLimitExceeded": (403, "User Rate Limit Exceeded", None, None),
    "quotaExceeded": (
        429, "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute'.", "RESOURCE_EXHAUSTED", None,
    ),
    "notFound": (404, "Requested entity was not found.", "NOT_FOUND", None),
    "applicationNotFound": (404, "No application was found for the given package name.", None, None),
    "purchaseTokenNotFound": (404, "The purchase token was not found.", None, "token"),
    "concurrentUpdate": (409, "The entity was changed concurrently.", "ABORTED", None),
    "subscriptionPurchaseNoLongerAvailable": (
        410,
        "The subscription purchase is no longer available for query because it has been expired for too long.",
        None,
        "token",
    ),
    "purchaseTokenNoLongerValid": (410, "The purchase token is no longer valid.", None, "token"),
    "backendError": (503, "Backend Error", "UNAVAILABLE", None),
}
GLOBAL_REASONS = {"required", "authError", "insufficientPermissions", "invalid", "badRequest", "notFound", "backendError"}
USAGE_REASONS = {"rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "accessNotConfigured"}


class APIError(Exception):
    """Ends a request with an error that has a reason."""

    def __init__(self, reason, message=None):
        super().__init__(reason)
        self.reason = reason
        self.message = message


def error_answer(reason, message=None, status=None, headers=()):
    """The answer for a reason, also for an unknown one."""
    own_status, own_message, canonical, location = REASONS.get(reason, (400, "Something else.", None, None))
    status, message = status or own_status, message or own_message
    if reason == "quotaExceeded":
        reason = "rateLimitExceeded"
    item = {"message": message, "domain": _domain(reason), "reason": reason}
    if location:
        item |= {"location": location, "locationType": "header" if location == "Authorization" else "parameter"}
    error = {"code": status, "message": message, "errors": [item]} | ({"status": canonical} if canonical else {})
    fields = list(headers)
    if reason == "authError":
        fields.append(("www-authenticate", 'Bearer realm="https://accounts.google.com/", error="invalid_token"'))
    return Answer(status, jws.to_json({"error": error}), "application/json; charset=UTF-8", fields)


def _domain(reason):
    if reason in GLOBAL_REASONS:
        return "global"
    return "usageLimits" if reason in USAGE_REASONS else "androidpublisher"


class OAuthError(Exception):
    """Ends a request for a token."""

    def __init__(self, code, description=None, status=400):
        super().__init__(f"{code}: {description}" if description else code)
        self.code = code
        self.description = description
        self.status = status


def oauth_error_answer(error):
    body = {"error": error.code} | ({"error_description": error.description} if error.description else {})
    return Answer(error.status, jws.to_json(body), "application/json; charset=utf-8")
