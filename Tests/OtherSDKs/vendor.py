# SPDX-License-Identifier: Apache-2.0
"""A vendor's server that keeps what it is asked, and a client that shows what it is answered."""
import dataclasses
import gzip
import http.client
import http.server
import json
import threading


@dataclasses.dataclass
class Request:
    method: str
    target: str
    headers: dict
    body: bytes


@dataclasses.dataclass
class Answer:
    status: int
    fields: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


def ask(port, method, target, headers, body=b""):
    """Sends a request with these fields, `Content-Length` and `Host`, and nothing else."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest(method, target, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    if body:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body or None)
    response = connection.getresponse()
    answer = Answer(response.status, {key.lower(): value for key, value in response.getheaders()}, response.read())
    connection.close()
    return answer


class Vendor:
    """Answers everything alike, compressed and with the header fields of a signed answer."""

    STATUS = 202
    BODY = gzip.compress(b'{"request_date_ms": 1}' * 50, mtime=0)
    FIELDS = {"Content-Type": "application/x-rc-format", "Content-Encoding": "gzip", "X-Signature": "c2lnbmVk",
              "X-RevenueCat-ETag": "0123456789abcdef", "X-RevenueCat-Request-Time": "1795250488617"}

    def __init__(self):
        self.requests = []
        vendor = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                vendor.requests.append(Request(self.command, self.path, dict(self.headers.items()), body))
                self.send_response(vendor.STATUS)
                for name, value in vendor.FIELDS.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(vendor.BODY)))
                self.end_headers()
                self.wfile.write(vendor.BODY)

            do_GET = do_POST = do_DELETE = do_PUT = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
