# SPDX-License-Identifier: Apache-2.0
"""A proxy between browser and service that changes answers on their way, as an attacker in between could."""
import http.client
import http.server
import json
import sys
import threading
import urllib.parse

HOP_BY_HOP = {"connection", "content-length", "transfer-encoding", "date", "keep-alive"}


class QuietServer(http.server.ThreadingHTTPServer):
    """Browsers drop calls whose answers they no longer need, which is not worth a message."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class TamperingProxy:
    """Listens on loopback; `change` is given the path and the body of each answer that is a 200, and gives the body."""

    def __init__(self, url):
        self.target = urllib.parse.urlsplit(url)
        self.change = lambda path, body: body
        # Answers instead of the service where it gives a status, a problem, and more fields; or is silent.
        self.instead = lambda path: None
        self.is_cut = False
        self.server = QuietServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def _handler(self):
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_GET(self):
                self._pass_on(None)

            def do_POST(self):
                self._pass_on(self.rfile.read(int(self.headers.get("Content-Length", 0))))

            def _pass_on(self, body):
                if proxy.is_cut:
                    self.close_connection = True
                    return
                instead = proxy.instead(self.path)
                if instead:
                    status, problem, fields = instead
                    self._send(status, [("Content-Type", "application/problem+json"), *fields],
                               json.dumps({"status": status, **problem}).encode())
                    return
                connection = http.client.HTTPConnection(proxy.target.hostname, proxy.target.port, timeout=30)
                fields = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
                connection.request(self.command, self.path, body, fields)
                answer = connection.getresponse()
                content = answer.read()
                connection.close()
                if answer.status == 200:
                    content = proxy.change(self.path, content)
                self._send(answer.status, answer.getheaders(), content)

            def _send(self, status, fields, content):
                self.send_response(status)
                for name, value in fields:
                    if name.lower() not in HOP_BY_HOP:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        return Handler
