# SPDX-License-Identifier: Apache-2.0
"""The fake Google Play as a whole: its parts, its ports, its files."""
from accounts import ServiceAccounts
from api import API, route
from catalog import Catalog
from fake_server import FakeServer
from life import Life
from misbehaviour import KINDS
from notifications import Notifications
from oauth import TokenEndpoint
from proto3 import Habits
from purchase_json import PurchaseWriter
from purchases import Purchases
from push import OIDCKeys, Pusher
from rudeness import Rules
from times import Clock

FIRST_APP = "com.example.app"


class FakeGooglePlay(FakeServer):
    def __init__(self, folder):
        super().__init__(folder, Rules(KINDS, outside=("token", "certificates")), self._respond)
        self.clock = Clock()
        self.habits = Habits()
        self.catalog = Catalog()
        self.purchases = Purchases(self.catalog, self.clock)
        self.notifications = Notifications(self.clock)
        self.life = Life(self.purchases, self.notifications)
        self.accounts = ServiceAccounts(self.write)
        self.tokens = TokenEndpoint(self.accounts, self.clock)
        self.keys = OIDCKeys()
        self.pusher = Pusher(self.keys, self.clock)
        self.writer = PurchaseWriter(self.catalog, self.clock, self.habits)
        self.api = API(
            self.catalog, self.purchases, self.writer, self.tokens, self.keys, self.habits, self.clock
        )
        self.api.package_names = {FIRST_APP}

    async def _respond(self, exchange):
        endpoint, names = route(exchange.request)
        await self.dispatcher.answer(exchange, endpoint, names[-1] if names else None, self.api.answer)

    def reset(self):
        """As at the beginning, but for service accounts, keys and ports; no id is given a second time."""
        self.clock.set()
        vars(self.habits).update(vars(Habits()))
        self.catalog.clear()
        self.purchases.clear()
        self.notifications.clear()
        self.tokens.reset()
        self.api.integrity_tokens.clear()
        self.pusher.reset()
        self.api.package_names = {FIRST_APP}
        super().reset()

    def forget_counts(self):
        super().forget_counts()
        self.tokens.forget_counts()

    def description(self):
        """What a user of the fake must know of this run."""
        return {
            "origins": {"https": self.origin(), "http": self.origin(uses_tls=False)},
            "tlsCAPath": self.tls_authority_path,
        }
