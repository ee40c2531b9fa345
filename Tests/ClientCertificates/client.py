# SPDX-License-Identifier: Apache-2.0
"""A client that asks for a signature, through a proxy with or without a certificate, or the service itself."""
import contextlib
import http.client
import json
import select
import socket
import ssl
import uuid

from certificates import HOST
from service import ELSEWHERE, PROXY

PATH = "/v1/app-store/promotional-offers/signatures"


class Client:
    def __init__(self, demo, certificates):
        self.demo, self.certificates = demo, certificates

    def through(self, port, name, headers, resumes=False):
        """What becomes of a request with the certificate of that name, if there is one."""
        context = ssl.create_default_context(cafile=self.certificates.pem("ca"))
        if name:
            context.load_cert_chain(self.certificates.pem(name), self.certificates.key(name))
        try:
            outcome, session = self._over_tls(port, context, headers, None)
            if resumes:
                outcome, again = self._over_tls(port, context, headers, session)
                return outcome if again else "no TLS session was resumed"
            return outcome
        except OSError as error:
            return f"refused: {getattr(error, 'reason', None) or error}"

    def _over_tls(self, port, context, headers, session):
        with socket.create_connection((PROXY, port), 20) as connection, \
                context.wrap_socket(connection, server_hostname=HOST, session=session) as tls:
            self._finish(tls)
            outcome = self._ask(tls, headers)
            return outcome, tls.session_reused if session else tls.session

    @staticmethod
    def _finish(tls):
        """In TLS 1.3, the server's tickets or its alert come only after the client's handshake is done."""
        if tls.version() == "TLSv1.3":
            select.select([tls], [], [], 10)
            tls.setblocking(False)
            with contextlib.suppress(ssl.SSLWantReadError):
                tls.recv(1)
            tls.settimeout(20)

    def directly(self, headers, comes_from=ELSEWHERE):
        """What becomes of a request that goes past the proxy, from another address."""
        with socket.create_connection(("127.0.0.1", self.demo.port), 20, (comes_from, 0)) as connection:
            return self._ask(connection, headers)

    def _ask(self, connection, headers):
        """The caller in the audit log if there is a signature; otherwise status and problem."""
        body = json.dumps({**self.demo.request, "appAccountToken": str(uuid.uuid4())})
        request = http.client.HTTPConnection(HOST)
        request.sock = connection
        request.request("POST", PATH, body, {"Content-Type": "application/json", **headers})
        response = request.getresponse()
        text = response.read()
        if response.status == 200:
            return self.demo.caller(json.loads(text)["grantId"])
        problem = response.getheader("Content-Type", "").startswith("application/problem+json")
        return f"{response.status} {json.loads(text)['type'].rpartition('/')[2] if problem else text[:200]}"
