# SPDX-License-Identifier: Apache-2.0
"""An app: its users log in by Authlib's client, and it asks the service with what they get."""
import base64
import hashlib
import secrets
import time

import httpx2
from authlib.integrations.httpx_client import OAuth2Client
from joserfc import jwt
from joserfc.jwk import ECKey

from provider import PASSWORDS, REDIRECT

SIGNATURES = "/v1/app-store/promotional-offers/signatures"


class ProofKey:
    """A key on a device, and DPoP proofs with it (RFC 9449 section 4)."""

    def __init__(self):
        self.key = ECKey.generate_key("P-256")

    def proof(self, method, url, token=None, **members):
        claims = {"jti": secrets.token_urlsafe(16), "htm": method, "htu": url, "iat": int(time.time())}
        if token:
            claims["ath"] = base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()
        header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": self.key.as_dict(private=False)}
        return jwt.encode(header, claims | members, self.key, ["ES256"])


def logged_in(provider, authority, user="anna", client="app", scope="openid offers:sign", key=None):
    """The tokens of a user who logs in: authorization code with PKCE, and everything that discovery says."""
    with httpx2.Client(verify=str(authority), timeout=20) as browser:
        found = browser.get(f"{provider.issuer}/.well-known/openid-configuration").json()
        session = OAuth2Client(client, token_endpoint_auth_method="none", code_challenge_method="S256", scope=scope,
                               redirect_uri=REDIRECT, verify=str(authority), timeout=20)
        verifier = secrets.token_urlsafe(48)
        url, state = session.create_authorization_url(found["authorization_endpoint"], code_verifier=verifier)
        browser.get(url).raise_for_status()
        answer = browser.post(url, data={"username": user, "password": PASSWORDS[user]})
        proof = {"DPoP": key.proof("POST", found["token_endpoint"])} if key else {}
        return session.fetch_token(found["token_endpoint"], authorization_response=answer.headers["location"], state=state,
                                   code_verifier=verifier, headers=proof)


class Caller:
    """Asks the service for a signature, and shows what it is answered."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}{SIGNATURES}"

    def ask(self, credential, proof=None, url=None, method="POST", **members):
        headers = [("Authorization", credential if " " in credential else f"Bearer {credential}")]
        proofs = proof if isinstance(proof, list) else [proof] if proof else []
        headers += [("DPoP", each) for each in proofs]
        body = {"bundleId": "com.example.app", "productId": "com.example.pro.yearly", "offerId": "yearly_upgrade"}
        return httpx2.request(method, url or self.url, headers=headers, json=body | members, timeout=20)
