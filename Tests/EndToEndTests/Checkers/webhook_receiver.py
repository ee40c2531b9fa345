# SPDX-License-Identifier: Apache-2.0
"""A receiver of webhooks that is slow, wrong and rude, as its path says, and writes down what it took.

Usage: webhook_receiver.py PORT_FILE RECORD_FILE SECRET...
Every message is verified as Standard Webhooks wants it, by each SECRET (whsec_...); one must fit. What was answered with
2xx is a line of RECORD_FILE: path, id, type, body.
"""
import base64
import hashlib
import hmac
import http.server
import json
import os
import random
import sys
import threading
import time

port_file, record_file, *secrets = sys.argv[1:]
keys = [base64.b64decode(secret.removeprefix("whsec_")) for secret in secrets]
record = open(record_file, "a", encoding="utf-8")
lock = threading.Lock()
seen = set()


def is_signed(headers, body):
    """Whether one of the signatures is one of ours, and the time is now."""
    identifier, seconds = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not seconds.isdigit() or abs(time.time() - int(seconds)) > 300:
        return False
    content = f"{identifier}.{seconds}.".encode() + body
    ours = {"v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode() for key in keys}
    return bool(ours & set(headers.get("webhook-signature", "").split()))


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def take(self, body):
        message = json.loads(body)
        line = {"path": self.path, "id": self.headers.get("webhook-id"), "token": self.headers.get("Authorization"),
                "body": body.decode(), "type": message.get("type"), "index": message.get("data", {}).get("index"),
                "customers": message.get("data", {}).get("customers")}
        with lock:
            record.write(json.dumps(line) + "\n")
            record.flush()
        self.answer(204)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if len(body) >= 20_000:
            return self.answer(413)
        if self.path == "/relay":
            return self.take(body)
        if not is_signed(self.headers, body):
            return self.answer(401)
        if self.path == "/gone":
            return self.answer(410)
        if self.path == "/redirect":
            return self.answer(302, Location="/good")
        if self.path == "/flaky":
            # Each message fails once at most: the pause after a second failure is too long for a test.
            dice = 1.0 if self.headers["webhook-id"] in seen else random.random()
            if dice < 0.1:
                seen.add(self.headers["webhook-id"])
                if dice < 0.05:
                    return self.answer(500)
                if dice < 0.08:
                    self.wfile.write(b"SMTP ready\r\n\r\n")
                self.close_connection = True
                return None
            if dice < 0.3:
                time.sleep(random.random() / 20)
        if self.path == "/later" and self.path not in seen:
            seen.add(self.path)
            return self.answer(503, Retry_After="8")
        if self.path in ("/gone-once", "/hour") and self.path not in seen:
            seen.add(self.path)
            return self.answer(410) if self.path == "/gone-once" else self.answer(503, Retry_After="3600")
        return self.take(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
with open(port_file + ".new", "w", encoding="utf-8") as file:
    file.write(str(server.server_port))
os.rename(port_file + ".new", port_file)
server.serve_forever()
