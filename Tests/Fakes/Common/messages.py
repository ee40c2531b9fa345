# SPDX-License-Identifier: Apache-2.0
"""A request and an answer, the same for HTTP/1.1 and HTTP/2."""
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit


@dataclass
class Request:
    method: str
    target: str
    # Lowercase names.
    headers: dict
    body: bytes
    # "h2", "http/1.1" or "http/1.0".
    protocol: str
    # "Production" or "Sandbox", by the port that it came to; None on the port for OCSP and control.
    environment: str | None = None

    @property
    def path(self):
        return urlsplit(self.target).path

    @property
    def query(self):
        """Pairs of name and value, in their order."""
        return parse_qsl(urlsplit(self.target).query, keep_blank_values=True)


@dataclass
class Answer:
    status: int
    body: bytes = b""
    content_type: str = "application/json"
    extra_headers: list = field(default_factory=list)

    @property
    def headers(self):
        own = [("content-type", self.content_type)] if self.body else []
        return own + list(self.extra_headers)
