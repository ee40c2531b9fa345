# SPDX-License-Identifier: Apache-2.0
"""What all fakes have: ports with and without TLS, rules of misbehaviour, counts, files."""
import os

import identities
from dispatcher import Dispatcher
from server import Connections, Listener, tls_context


class FakeServer:
    """Listens, once `start` was called within an event loop, on two ports for each environment: by TLS and without."""

    def __init__(self, folder, rules, respond, environments=(None,)):
        self.folder = folder
        self.rules = rules
        self.dispatcher = Dispatcher(rules)
        self.connections = Connections()
        # (environment, whether by TLS): its listener.
        self.listeners = {}
        for environment in environments:
            for uses_tls in (True, False):
                self.listeners[environment, uses_tls] = self._make_listener(respond, environment, uses_tls)
        self._tls_authority = identities.tls_authority()
        self.tls_certificate, self.protocols = "good", ["h2", "http/1.1"]
        self.set_tls()
        self.tls_authority_path = self.write("tls-ca.pem", self._tls_authority.pem)

    def _make_listener(self, respond, environment, uses_tls):
        def take_rule(environment):
            return self.rules.take("connection", environment)

        listener = Listener(respond, self.connections, take_rule, environment, uses_tls)
        listener.bind()
        return listener

    def start(self):
        for listener in self.listeners.values():
            listener.open()

    def origin(self, uses_tls=True, environment=None):
        """Scheme, address and port, without a slash at the end."""
        scheme = "https" if uses_tls else "http"
        return f"{scheme}://127.0.0.1:{self.listeners[environment, uses_tls].port}"

    def reset(self):
        """Well behaved, open, and without counts."""
        self.rules.clear()
        self.set_tls("good", ["h2", "http/1.1"])
        self.start()
        self.forget_counts()

    def forget_counts(self):
        self.dispatcher.reset()
        self.connections.reset()

    def set_tls(self, certificate=None, protocols=None):
        """Which certificate is shown and what is offered by ALPN, from the next connection on."""
        identity = identities.tls_identity_named(certificate or self.tls_certificate, self._tls_authority)
        self.tls_certificate = certificate or self.tls_certificate
        self.protocols = protocols or self.protocols
        context = tls_context(identity, self.folder, self.protocols)
        for listener in self.listeners.values():
            listener.tls_context = context

    def write(self, name, data, mode=0o644):
        """Writes a file and returns its path."""
        path = os.path.join(self.folder, name)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(data)
        return path
