# SPDX-License-Identifier: Apache-2.0
"""Two receivers of webhooks: one takes everything, the other treats the service as bad receivers do.

Usage: webhooks.py PORT_FILE MODE_FILE RECORD_FILE SECRET
`standardwebhooks` from PyPI verifies every message at /good; what it has taken is a line of RECORD_FILE with path, id and
body. A message at /rude is answered as MODE_FILE says at that time, and is a line with path and mode.
"""
import http.server
import json
import os
import random
import sys
import threading

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

port_file, mode_file, record_file, secret = sys.argv[1:]
webhook = Webhook(secret)
record = os.open(record_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        pass

    def _answer(self, status: int, **fields: str) -> None:
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        try:
            self._post()
        except OSError:
            # The client was killed.
            self.close_connection = True

    def _post(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/rude":
            return self._take(body)
        with open(mode_file, encoding="ascii") as file:
            mode = file.read()
        self._note({"path": self.path, "mode": mode})
        if mode == "redirect":
            return self._answer(307, Location="/stolen")
        if mode == "gone":
            return self._answer(410)
        if mode == "fail" and random.random() < 0.7:
            return self._answer(random.choice([400, 429, 500, 503]))
        if mode == "hang":
            # Until the service gives up, or is killed.
            self.connection.settimeout(60)
            self.connection.recv(1)
        self.close_connection = True

    def _take(self, body: bytes) -> None:
        try:
            webhook.verify(body, dict(self.headers))
            is_signed = self.path == "/good"
        except WebhookVerificationError:
            is_signed = False
        self._note({"path": self.path, "id": self.headers["webhook-id"], "body": body.decode(), "signed": is_signed})
        self._answer(204 if is_signed else 401)

    @staticmethod
    def _note(line: dict[str, object]) -> None:
        os.write(record, (json.dumps(line) + "\n").encode())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
threading.excepthook = lambda _: None
with open(port_file + ".new", "w", encoding="ascii") as port:
    port.write(str(server.server_port))
os.rename(port_file + ".new", port_file)
server.serve_forever()
