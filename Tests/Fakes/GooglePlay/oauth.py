# SPDX-License-Identifier: Apache-2.0
"""The token endpoint, and the access tokens it gave.

Source: https://developers.google.com/identity/protocols/oauth2/service-account#httprest
"""
import secrets
from dataclasses import dataclass
from urllib.parse import parse_qs

from cryptography.exceptions import InvalidSignature

import jws
from accounts import TOKEN_URI
from errors import APIError, OAuthError, oauth_error_answer
from messages import Answer
from times import SECOND

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer"
SCOPE = "https://www.googleapis.com/auth/androidpublisher"
LONGEST_LIFE_SECONDS = 3600
CLOCK_SKEW_SECONDS = 60
TIMEFRAME = (
    "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp "
    "values in the JWT claim."
)


@dataclass
class AccessToken:
    account: object
    scopes: frozenset
    expires_at: int
    is_revoked: bool = False


class TokenEndpoint:
    def __init__(self, accounts, clock):
        self._accounts = accounts
        self._clock = clock
        self._tokens = {}
        self.issued = 0
        # Why tokens were not given, and why requests to the API were refused.
        self.refusals = []
        self.api_refusals = []
        self.reset()

    def reset(self):
        """Tokens live as long as usual again. Those that were given stay good."""
        self.life_seconds = 3599
        self.writes_life_as_text = False

    def forget_counts(self):
        self.issued = 0
        self.refusals.clear()
        self.api_refusals.clear()

    def answer(self, request):
        """The answer to a request for a token."""
        try:
            account, scopes = self._check(request)
        except OAuthError as error:
            self.refusals.append(str(error))
            return oauth_error_answer(error)
        token = f"ya29.c.{secrets.token_urlsafe(96)}"
        self._tokens[token] = AccessToken(account, scopes, self._clock.now() + self.life_seconds * SECOND)
        self.issued += 1
        life = str(self.life_seconds) if self.writes_life_as_text else self.life_seconds
        body = {"access_token": token, "expires_in": life, "token_type": "Bearer"}
        return Answer(200, jws.to_json(body), "application/json; charset=UTF-8", [("cache-control", "no-store")])

    def revoke_all(self):
        """No token given so far opens anything any more."""
        for token in self._tokens.values():
            token.is_revoked = True

    def authenticate(self, request, scope=SCOPE):
        """The account of a request to the API; raises APIError."""
        try:
            return self._authenticate(request.headers.get("authorization", ""), scope)
        except APIError as error:
            self.api_refusals.append(f"{error.reason}: {error.message}")
            raise APIError(error.reason) from error

    def _authenticate(self, authorization, scope):
        scheme, _, text = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise APIError("required", "no bearer token")
        token = self._tokens.get(text)
        if token is None:
            raise APIError("authError", "no such token")
        if token.is_revoked:
            raise APIError("authError", "revoked")
        if token.expires_at <= self._clock.now():
            raise APIError("authError", "expired")
        if scope not in token.scopes:
            raise APIError("insufficientPermissions", "another scope")
        return token.account

    def _check(self, request):
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type != "application/x-www-form-urlencoded":
            raise OAuthError("invalid_request", f"Content-Type is {content_type!r}")
        form = parse_qs(request.body.decode("utf-8", "replace"), keep_blank_values=True)
        if any(len(values) > 1 for values in form.values()):
            raise OAuthError("invalid_request", "Parameters can't be repeated")
        grant_type = form.get("grant_type", [""])[0]
        if grant_type != GRANT_TYPE:
            raise OAuthError("unsupported_grant_type", f"Invalid grant_type: {grant_type}")
        if "assertion" not in form:
            raise OAuthError("invalid_request", "Missing required parameter: assertion")
        return self._check_assertion(form["assertion"][0])

    def _check_assertion(self, text):
        try:
            header = jws.unverified_header(text)
            claims = jws.unverified_claims(text)
        except ValueError as error:
            raise OAuthError("invalid_grant", f"Bad Request: {error}") from error
        account = self._accounts.find(claims.get("iss"))
        if account is None:
            raise OAuthError("invalid_grant", "Invalid grant: account not found")
        if account.is_disabled:
            raise OAuthError("disabled_client", "The OAuth client was disabled.", 401)
        self._check_signature(text, header, account)
        self._check_times(claims)
        if claims.get("aud") != TOKEN_URI:
            raise OAuthError(
                "invalid_grant", f"Invalid JWT: Failed audience check. The right audience is {TOKEN_URI}"
            )
        if "sub" in claims and claims["sub"] != account.email:
            raise OAuthError(
                "unauthorized_client",
                "Client is unauthorized to retrieve access tokens using this method, or client not authorized for any "
                "of the scopes requested.",
                401,
            )
        return account, self._scopes(claims)

    @staticmethod
    def _check_signature(text, header, account):
        """The key id chooses the key; without one any of the account's may have signed, as at Google's."""
        if header.get("alg") != "RS256" or header.get("typ", "JWT") != "JWT":
            raise OAuthError("invalid_grant", "Invalid JWT: alg or typ is not supported")
        key_id = header.get("kid")
        keys = [key for own_id, key in account.keys.items() if key_id in (None, own_id)]
        for key in keys:
            try:
                jws.verify_rs256(text, key)
                return
            except (ValueError, InvalidSignature):
                continue
        raise OAuthError("invalid_grant", "Invalid JWT Signature.")

    def _check_times(self, claims):
        now = self._clock.now() / SECOND
        issued_at, expires_at = claims.get("iat"), claims.get("exp")
        if type(issued_at) is not int or type(expires_at) is not int:
            raise OAuthError("invalid_grant", TIMEFRAME)
        is_in_time = issued_at <= now + CLOCK_SKEW_SECONDS and expires_at > now
        if not is_in_time or not 0 < expires_at - issued_at <= LONGEST_LIFE_SECONDS:
            raise OAuthError("invalid_grant", TIMEFRAME)

    @staticmethod
    def _scopes(claims):
        scopes = claims.get("scope")
        words = scopes.split(" ") if isinstance(scopes, str) else []
        if not words or any(not word.startswith("https://www.googleapis.com/auth/") for word in words):
            raise OAuthError("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        return frozenset(words)
