# SPDX-License-Identifier: Apache-2.0
"""A witness on 127.0.0.1: it co-signs logs that grow (c2sp.org/tlog-witness), and misbehaves on request.

Usage: python3 -B Tests/Fakes/Witness [--name NAME]
Control calls come by standard input, a line of JSON each, and it runs until that ends.
"""
import argparse
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Common"))

from prefork import fork_for_each_line
from witness import Refusal, Witness


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        witness = self.server.witness
        witness.note(self.path)
        try:
            if self.path not in ("/w/add-checkpoint", "/w/far/add-checkpoint"):
                raise Refusal(404)
            witness.misbehave_before(isFar=self.path.startswith("/w/far/"))
            self.answer(200, witness.add_checkpoint(body))
        except Refusal as refusal:
            self.answer(refusal.status, refusal.body, refusal.content_type)

    def answer(self, status, body, content_type="text/plain"):
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def say(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def run(name):
    """Runs a witness until standard input ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.witness = Witness(name)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say({"url": f"http://127.0.0.1:{server.server_port}/w", "verifierKey": server.witness.verifier_key()})
    for line in sys.stdin:
        try:
            message = json.loads(line)
            call = getattr(server.witness, f"control_{message['call']}")
            say({"result": call(**message.get("arguments", {}))})
        except Exception as error:  # The caller gets every error.
            say({"error": f"{type(error).__name__}: {error}"})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="witness.example/w1")
    parser.add_argument("--prefork", action="store_true", help="start a witness for each folder that a line names")
    arguments = parser.parse_args()
    if arguments.prefork:
        fork_for_each_line(lambda folder: run(arguments.name))
    else:
        run(arguments.name)


main()
