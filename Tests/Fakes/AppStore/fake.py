# SPDX-License-Identifier: Apache-2.0
"""The fake App Store as a whole: its parts, its ports, its files."""
import os

import certificates
from api import API
from bearer import KeyRing
from dispatcher import Dispatcher
from misbehaviour import Rules
from ocsp import Responder
from server import Connections, Listener, tls_context
from signed_data import SignedData
from signer import Signer
from store import ENVIRONMENTS, Store

TLS_CERTIFICATES = ("good", "otherAuthority", "otherAddress", "expired")


class FakeAppStore:
    """Begins to listen with `start`, within an event loop."""

    def __init__(self, folder):
        self.folder = folder
        self.rules = Rules()
        self.store = Store()
        self.keys = KeyRing()
        self.connections = Connections()
        self.ocsp_connections = Connections()
        self._make_ocsp_listener()
        self.maker = certificates.CertificateMaker(f"http://127.0.0.1:{self.ocsp_listener.port}/ocsp")
        self.chain = self.maker.chain()
        self.signed_data = SignedData(self.store, Signer(self.maker, self.chain))
        self.api = API(self.store, self.signed_data, self.keys)
        self.responder = Responder(self.maker, self.chain)
        self.dispatcher = Dispatcher(self.api, self.responder, self.rules)
        self._make_api_listeners()
        self._tls_authority = certificates.tls_authority()
        self.tls_certificate, self.protocols = "good", ["h2", "http/1.1"]
        self.set_tls()
        self.root_path = self._write("root.pem", self.chain.root.pem)
        self.tls_authority_path = self._write("tls-ca.pem", self._tls_authority.pem)

    def _make_ocsp_listener(self):
        # The certificates name its port, so it is there before them; it is opened with the others.
        async def respond(exchange):
            await self.dispatcher.respond_ocsp(exchange)

        self.ocsp_listener = Listener(
            respond, self.ocsp_connections, lambda environment: self.rules.take("ocspConnection")
        )
        self.ocsp_listener.bind()

    def _make_api_listeners(self):
        # (environment, whether by TLS): its listener.
        self.listeners = {}
        for environment in ENVIRONMENTS:
            for uses_tls in (True, False):
                listener = Listener(
                    self.dispatcher.respond,
                    self.connections,
                    lambda environment: self.rules.take("connection", environment),
                    environment,
                    uses_tls,
                )
                listener.bind()
                self.listeners[environment, uses_tls] = listener

    def start(self):
        for listener in [*self.listeners.values(), self.ocsp_listener]:
            listener.open()

    def reset(self):
        """As at the beginning, but for keys, chain, ports, and ids that were given."""
        self.store.clear()
        self.rules.clear()
        self.responder.choose("*", "good")
        self.set_tls("good", ["h2", "http/1.1"])
        self.start()
        self.forget_counts()

    def forget_counts(self):
        self.dispatcher.reset()
        self.connections.reset()
        self.ocsp_connections.reset()
        self.api.refusals.clear()
        self.api.tokens.clear()

    def set_tls(self, certificate=None, protocols=None):
        """Which certificate is shown and what is offered by ALPN, from the next connection on."""
        self.tls_certificate = certificate or self.tls_certificate
        self.protocols = protocols or self.protocols
        if self.tls_certificate not in TLS_CERTIFICATES:
            raise ValueError(f"no certificate {certificate!r}; there are {', '.join(TLS_CERTIFICATES)}")
        context = tls_context(self._tls_identity(), self.folder, self.protocols)
        for listener in self.listeners.values():
            listener.tls_context = context

    def _tls_identity(self):
        match self.tls_certificate:
            case "otherAuthority":
                return certificates.tls_identity(certificates.tls_authority())
            case "otherAddress":
                return certificates.tls_identity(self._tls_authority, "127.0.0.2", "other.example")
            case "expired":
                return certificates.tls_identity(self._tls_authority, valid_days=(-30, -1))
        return certificates.tls_identity(self._tls_authority)

    def origins(self):
        """Where the API is, by scheme and environment."""
        return {
            scheme: {
                environment: f"{scheme}://127.0.0.1:{self.listeners[environment, scheme == 'https'].port}"
                for environment in ENVIRONMENTS
            }
            for scheme in ("https", "http")
        }

    def description(self):
        """What a user of the fake must know of this run."""
        return {
            "origins": self.origins(),
            "ocsp": f"http://127.0.0.1:{self.ocsp_listener.port}/ocsp",
            "rootPEMPath": self.root_path,
            "tlsCAPath": self.tls_authority_path,
        }

    def _write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path
