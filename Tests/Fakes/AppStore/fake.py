# SPDX-License-Identifier: Apache-2.0
"""The fake App Store as a whole: its parts, its ports, its files."""
import certificates
from api import API, route
from bearer import KeyRing
from connect import Connect
from connect import route as connect_route
from fake_server import FakeServer
from messaging import Messaging
from messaging import route as messaging_route
from misbehaviour import KINDS
from ocsp import Responder
from rudeness import Rules
from server import Connections, Listener
from signed_data import SignedData
from signer import Signer
from store import ENVIRONMENTS, Store


class FakeAppStore(FakeServer):
    def __init__(self, folder):
        rules = Rules(KINDS, connections=("connection", "ocspConnection"), outside=("ocsp",))
        super().__init__(folder, rules, self._respond, ENVIRONMENTS)
        self.store = Store()
        self.keys = KeyRing()
        self.ocsp_connections = Connections()
        self._make_ocsp_listener()
        self.maker = certificates.CertificateMaker(f"http://127.0.0.1:{self.ocsp_listener.port}/ocsp")
        self.chain = self.maker.chain()
        self.signed_data = SignedData(self.store, Signer(self.maker, self.chain))
        self.connect = Connect(self.keys)
        self.messaging = Messaging(self.keys, self.store)
        self.api = API(self.store, self.signed_data, self.keys)
        self.responder = Responder(self.maker, self.chain)
        self.root_path = self.write("root.pem", self.chain.root.pem)

    def _make_ocsp_listener(self):
        # The certificates name its port, so it is there before them; it is opened with the others.
        self.ocsp_listener = Listener(
            self._respond_ocsp, self.ocsp_connections, lambda environment: self.rules.take("ocspConnection")
        )
        self.ocsp_listener.bind()

    async def _respond(self, exchange):
        if found := connect_route(exchange.request):
            endpoint, identifier = found
            await self.dispatcher.answer(exchange, endpoint, identifier, lambda request, lies: self.connect.answer(request))
            return
        if found := messaging_route(exchange.request):
            endpoint, identifier = found
            await self.dispatcher.answer(exchange, endpoint, identifier, lambda request, lies: self.messaging.answer(request))
            return
        endpoint, identifier = route(exchange.request)
        await self.dispatcher.answer(exchange, endpoint, identifier, self.api.answer)

    async def _respond_ocsp(self, exchange):
        await self.dispatcher.answer(exchange, "ocsp", None, lambda request, lies: self.responder.answer(request))

    def start(self):
        super().start()
        self.ocsp_listener.open()

    def reset(self):
        """As at the beginning, but for keys, chain, ports, and ids that were given."""
        self.store.clear()
        self.connect.clear()
        self.messaging.clear()
        self.responder.choose("*", "good")
        super().reset()

    def forget_counts(self):
        super().forget_counts()
        self.ocsp_connections.reset()
        self.api.refusals.clear()
        self.connect.refusals.clear()
        self.api.tokens.clear()

    def origins(self):
        """Where the API is, by scheme and environment."""
        return {
            scheme: {environment: self.origin(scheme == "https", environment) for environment in ENVIRONMENTS}
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
