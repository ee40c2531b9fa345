# SPDX-License-Identifier: Apache-2.0
"""As much of HTTP/1.1 (RFC 9112) as clients of the App Store Server API speak."""
import asyncio
import http

from messages import Request

LARGEST_HEAD = 65_536
LARGEST_BODY = 1 << 20


class Exchange:
    """One request and the means to answer it."""

    def __init__(self, request, reader, writer):
        self.request = request
        self._reader = reader
        self._writer = writer
        self._is_chunked = False
        wish = request.headers.get("connection", "").lower()
        self.keeps_connection = wish != "close" and request.protocol == "http/1.1"

    async def head(self, status, headers, length):
        self._is_chunked = length is None
        framing = ("transfer-encoding", "chunked") if length is None else ("content-length", str(length))
        try:
            reason = http.HTTPStatus(status).phrase
        except ValueError:
            reason = "Whatever"
        lines = [f"HTTP/1.1 {status} {reason}"] + [f"{name}: {value}" for name, value in [*headers, framing]]
        await self.raw("\r\n".join([*lines, "", ""]).encode())

    async def data(self, data):
        if data:
            await self.raw(b"%x\r\n%b\r\n" % (len(data), data) if self._is_chunked else data)

    async def finish(self):
        if self._is_chunked:
            await self.raw(b"0\r\n\r\n")

    async def raw(self, data):
        self._writer.write(data)
        await self._writer.drain()

    def abort(self):
        """Ends the connection with what is unsent."""
        self.keeps_connection = False
        self._writer.transport.abort()

    def close(self):
        """Ends the connection after what was sent."""
        self.keeps_connection = False
        self._writer.close()

    async def reset(self):
        self.abort()

    async def go_away(self):
        self.close()

    async def until_gone(self):
        while await self._reader.read(65_536):
            pass
        self.keeps_connection = False


async def serve(reader, writer, respond, environment):
    """Answers the requests of a connection, one after the other."""
    keeps_connection = True
    while keeps_connection:
        request = await _read_request(reader, environment)
        if request is None:
            break
        exchange = Exchange(request, reader, writer)
        await respond(exchange)
        keeps_connection = exchange.keeps_connection
    writer.close()


async def _read_request(reader, environment):
    """The next request; None when the client has gone or does not speak HTTP."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    # HTTP/1.0 is what the openssl command speaks to responders.
    if len(words) != 3 or words[2] not in ("HTTP/1.1", "HTTP/1.0"):
        return None
    headers = {}
    for line in lines[1:-2]:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    length = int(headers.get("content-length", "0"))
    if length > LARGEST_BODY or "transfer-encoding" in headers:
        return None
    return Request(words[0], words[1], headers, await reader.readexactly(length), words[2].lower(), environment)
