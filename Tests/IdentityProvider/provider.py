# SPDX-License-Identifier: Apache-2.0
"""An OpenID provider made of Authlib and Flask, with TLS: discovery, keys, authorization code with PKCE, JWT access tokens."""
import hashlib
import logging
import secrets
import threading
import time

import flask
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, InvalidRequestError, grants
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator
from authlib.oidc.core import AuthorizationCodeMixin, UserInfo
from authlib.oidc.core.grants import OpenIDCode
from authlib.oidc.discovery import OpenIDProviderMetadata
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey
from werkzeug.serving import make_server

REDIRECT = "com.example.app:/signed-in"
PASSWORDS = {"anna": "correct horse", "bella": "battery staple"}
# Roles of people who sign in to the console; bella has none.
GROUPS = {"anna": ["staff", "auditors"], "bella": ["staff"]}
# Clients by their names: the audience of their tokens, and for how many seconds these are good.
CLIENTS = {"app": ("offer-signer", 300), "hasty-app": ("offer-signer", 2), "other-app": ("another-api", 300),
           "console": ("console", 300)}
# Of clients that have one; the others are public, as an app on a phone is.
SECRETS = {"console": "c0nsole+secret/="}


class User:
    def __init__(self, name):
        self.name = name

    def get_user_id(self):
        return self.name


class App(ClientMixin):
    def __init__(self, name, redirect=REDIRECT):
        self.client_id, self.id_token_signed_response_alg, self.redirect = name, None, redirect

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return self.redirect

    def get_allowed_scope(self, scope):
        return " ".join(word for word in (scope or "").split() if word in ("openid", "offers:sign"))

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri == self.redirect

    def check_client_secret(self, client_secret):
        return secrets.compare_digest(client_secret, SECRETS[self.client_id])

    def check_endpoint_auth_method(self, method, endpoint):
        return method == ("client_secret_basic" if self.client_id in SECRETS else "none")

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type == "authorization_code"


class Code(AuthorizationCodeMixin):
    def __init__(self, code, request):
        self.code, self.scope, self.redirect_uri = code, request.payload.scope, request.payload.redirect_uri
        self.client_id, self.user, self.nonce = request.client.client_id, request.user, request.payload.data.get("nonce")
        self.code_challenge = request.payload.data.get("code_challenge")
        self.code_challenge_method = request.payload.data.get("code_challenge_method")

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope

    def get_nonce(self):
        return self.nonce

    def get_auth_time(self):
        return None

    def get_acr(self):
        return None

    def get_amr(self):
        return None


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", "client_secret_basic"]
    codes = {}

    def save_authorization_code(self, code, request):
        self.codes[code] = Code(code, request)

    def query_authorization_code(self, code, client):
        found = self.codes.get(code)
        return found if found and found.client_id == client.client_id else None

    def delete_authorization_code(self, authorization_code):
        del self.codes[authorization_code.code]

    def authenticate_user(self, authorization_code):
        return authorization_code.user


class IDTokens(OpenIDCode):
    def __init__(self, provider):
        super().__init__()
        self.provider = provider

    def exists_nonce(self, nonce, request):
        return False

    def resolve_client_private_key(self, client):
        return KeySet(self.provider.keys[:1])

    def get_client_algorithm(self, client):
        return self.provider.algorithm

    def get_client_claims(self, client):
        return {"iss": self.provider.issuer, "aud": [client.client_id]}

    def generate_user_info(self, user, scope):
        return UserInfo(sub=user.name, groups=GROUPS[user.name])


class AccessTokens(JWTBearerTokenGenerator):
    """RFC 9068; bound to a key if the request has a DPoP proof (RFC 9449 section 5)."""

    def __init__(self, provider):
        super().__init__(provider.issuer, provider.algorithm, expires_generator=lambda app, _: CLIENTS[app.client_id][1])
        self.provider = provider

    def get_jwks(self):
        # The ID of a set's key goes into the header, and that of a key alone does not.
        return KeySet(self.provider.keys[:1]) if self.provider.names_keys else self.provider.keys[0]

    def get_audiences(self, client, user, scope):
        return CLIENTS[client.client_id][0]

    def get_extra_claims(self, client, grant_type, user, scope):
        thumbprint = self.provider.proven_key()
        return {"cnf": {"jkt": thumbprint}} if thumbprint else {}

    def generate(self, *arguments, **named):
        token = super().generate(*arguments, **named)
        return token | {"token_type": "DPoP"} if "DPoP" in flask.request.headers else token


class Provider:
    """Listens on a port of its own, also after it was stopped and started again."""

    def __init__(self, certificate, algorithm, port, names_keys=True, redirect=REDIRECT):
        """Without a certificate it speaks plain HTTP, for a browser that trusts no authority of ours."""
        self.certificate, self.algorithm, self.port, self.names_keys = certificate, algorithm, port, names_keys
        self.issuer, self.redirect = f"http{'s' if certificate else ''}://127.0.0.1:{port}", redirect
        self.keys, self.reads, self.server = [self.new_key()], 0, None
        self.app = self.made_app()

    def new_key(self):
        members = {"kid": secrets.token_urlsafe(8), "use": "sig", "alg": self.algorithm}
        if self.algorithm == "ES256":
            return ECKey.generate_key("P-256", members)
        return RSAKey.generate_key(2048, members)

    def rotate(self, keep):
        """Signs with a new key; the one before stays published or not."""
        self.keys = [self.new_key()] + (self.keys if keep else [])

    def proven_key(self):
        """The thumbprint of the key that the token is asked for with."""
        text = flask.request.headers.get("DPoP")
        if not text:
            return None
        key = ECKey.import_key(jwt.decode(text, lambda proof: ECKey.import_key(proof.headers()["jwk"]), ["ES256"]).header["jwk"])
        proof = jwt.decode(text, key, ["ES256"])
        fits = proof.header["typ"] == "dpop+jwt" and proof.claims["htm"] == "POST"
        if not fits or proof.claims["htu"] != f"{self.issuer}/token" or abs(time.time() - proof.claims["iat"]) > 60:
            raise InvalidRequestError("invalid_dpop_proof")
        return key.thumbprint()

    def metadata(self):
        document = OpenIDProviderMetadata(
            issuer=self.issuer, authorization_endpoint=f"{self.issuer}/authorize", token_endpoint=f"{self.issuer}/token",
            jwks_uri=f"{self.issuer}/keys", response_types_supported=["code"], subject_types_supported=["public"],
            id_token_signing_alg_values_supported=sorted({"RS256", self.algorithm}),
            code_challenge_methods_supported=["S256"], token_endpoint_auth_methods_supported=["none", "client_secret_basic"],
            end_session_endpoint=f"{self.issuer}/logout", scopes_supported=["openid", "offers:sign"])
        if self.certificate:
            document.validate()
        return document

    def made_app(self):
        app = flask.Flask(f"provider-{self.port}")
        server = AuthorizationServer(app, lambda name: App(name, self.redirect) if name in CLIENTS else None, lambda token, request: None)
        server.register_grant(CodeGrant, [CodeChallenge(required=True), IDTokens(self)])
        server.register_token_generator("default", AccessTokens(self))
        app.get("/.well-known/openid-configuration")(lambda: self.metadata())
        app.get("/keys")(self.published)
        app.post("/token")(server.create_token_response)
        app.get("/logout")(self.signed_out)

        @app.route("/authorize", methods=["GET", "POST"])
        def authorize():
            if flask.request.method == "GET":
                server.get_consent_grant()
                return '<form method="post"><input name="username"><input name="password" type="password"><button>Log in</button></form>'
            name = flask.request.form["username"]
            if PASSWORDS.get(name) != flask.request.form["password"]:
                flask.abort(403)
            grant = server.get_consent_grant(end_user=User(name))
            return server.create_authorization_response(grant_user=User(name), grant=grant)

        return app

    @staticmethod
    def signed_out():
        return f"<h1>Signed out</h1><p>{flask.request.args['post_logout_redirect_uri']}</p>"

    def published(self):
        self.reads += 1
        document = KeySet(self.keys).as_dict(private=False)
        tag = hashlib.sha256(repr(document).encode()).hexdigest()
        return flask.jsonify(document), {"ETag": f'"{tag}"', "Cache-Control": "max-age=600"}

    def start(self):
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.server = make_server("127.0.0.1", self.port, self.app, threaded=True, ssl_context=self.certificate)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
        self.server = None
