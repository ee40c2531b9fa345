# SPDX-License-Identifier: Apache-2.0
"""An OpenID Connect provider on 127.0.0.1: it issues tokens, publishes its keys, and misbehaves on request.

Usage: python3 -B Tests/Fakes/IdentityProvider
Control calls come by standard input, a line of JSON each, and it runs until that ends.
"""
import argparse
import json
import os
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Common"))

from prefork import fork_for_each_line
from provider import Provider


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.form = dict(urllib.parse.parse_qsl(body.decode()))
        self.do_GET()

    def do_GET(self):
        provider = self.server.provider
        provider.count(self.path)
        mode = provider.mode
        time.sleep(provider.delay / 1000)
        if mode == "hang":
            provider.ended.wait()
        if mode in ("hang", "close"):
            self.close_connection = True
            return
        if mode == "status":
            return self.answer(503, b"no", {})
        if mode == "redirect":
            return self.answer(302, b"", {"Location": "http://127.0.0.1:9/elsewhere"})
        if mode == "garbage":
            return self.answer(200, b"<html>not json</html>", {})
        if mode == "endless":
            return self.endless()
        if mode == "short":
            return self.short()
        if self.path == "/token" and self.command == "POST":
            status, answer = provider.exchange(self.form, self.headers.get("authorization"))
            return self.answer(status, json.dumps(answer).encode(), {})
        if self.path == "/.well-known/openid-configuration":
            if not provider.discovers:
                return self.answer(503, b"no", {})
            return self.answer(200, json.dumps(provider.discovery(mode)).encode(), {})
        if self.path == provider.keys_path:
            body = provider.key_set(mode)
            if not provider.gate.is_set():
                # With what was published when the request came.
                provider.count("held")
                provider.gate.wait()
            tag = provider.entity_tag(body)
            fields = {"ETag": tag} | ({"Cache-Control": provider.cache_control} if provider.cache_control else {})
            if self.headers.get("if-none-match") == tag:
                provider.count("unchanged")
                return self.answer(304, b"", fields)
            return self.answer(200, body, fields)
        return self.answer(404, b"", {})

    def answer(self, status, body, fields):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def endless(self):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            while True:
                self.wfile.write(b" " * 65536)
        except OSError:
            pass

    def short(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"keys":[')
        self.close_connection = True

    def log_message(self, *_):
        pass


def say(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def run():
    """Runs a provider until standard input ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider = server.provider = Provider(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say({"issuer": provider.issuer})
    for line in sys.stdin:
        try:
            message = json.loads(line)
            call = getattr(provider, f"control_{message['call']}")
            say({"result": call(**message.get("arguments", {}))})
        except Exception as error:  # The caller gets every error.
            say({"error": f"{type(error).__name__}: {error}"})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefork", action="store_true", help="start a provider for each folder that a line names")
    if parser.parse_args().prefork:
        fork_for_each_line(lambda folder: run())
    else:
        run()


main()
