# SPDX-License-Identifier: Apache-2.0
"""Listens on ports of 127.0.0.1, with or without TLS, and counts connections."""
import asyncio
import os
import socket
import ssl

import http1
import http2


class Connections:
    """How many connections there were and are."""

    def __init__(self):
        self.opened = 0
        self.open = 0
        self.most_open = 0

    def reset(self):
        """Counts opened connections from zero; connections that are open stay open."""
        self.opened = 0
        self.most_open = self.open

    def __enter__(self):
        self.opened += 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)

    def __exit__(self, *_):
        self.open -= 1


class Listener:
    """One port. It can be closed and opened again, and its TLS context be exchanged, while it is in use."""

    def __init__(self, respond, connections, take_rule, environment=None, uses_tls=False):
        self.environment = environment
        self.uses_tls = uses_tls
        self.tls_context = None
        self.port = 0
        self._respond = respond
        self._take_rule = take_rule
        self._connections = connections
        self._socket = None
        self._accepting = None
        self._tasks = set()

    def bind(self):
        """Takes a port (the same one again after it was closed); connections wait until `open`."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", self.port))
        self._socket.listen(1024)
        self._socket.setblocking(False)
        self.port = self._socket.getsockname()[1]

    def open(self):
        if self._socket is None:
            self.bind()
        if self._accepting is None:
            self._accepting = self._start(self._accept())

    def close(self):
        """Refuses connections from now on, and ends those there are."""
        for task in list(self._tasks):
            task.cancel()
        if self._socket:
            self._socket.close()
        self._socket = self._accepting = None

    def drop_connections(self):
        """Ends the connections there are."""
        for task in self._tasks - {self._accepting}:
            task.cancel()

    def _start(self, coroutine):
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _accept(self):
        while True:
            connection, _ = await asyncio.get_running_loop().sock_accept(self._socket)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._start(self._serve(connection))

    async def _serve(self, connection):
        transport = None
        with self._connections:
            try:
                if rule := self._take_rule(self.environment):
                    await _be_rude(connection, rule.kind)
                    return
                transport, reader, writer = await self._shake_hands(connection)
                secured = transport.get_extra_info("ssl_object")
                protocol = http2 if secured and secured.selected_alpn_protocol() == "h2" else http1
                await protocol.serve(reader, writer, self._respond, self.environment)
            except (OSError, ssl.SSLError, asyncio.IncompleteReadError):
                # Clients come and go, and some do not trust the certificate.
                pass
            except asyncio.CancelledError:
                # A TLS connection that is closed in good order waits half a minute for a client that says nothing.
                if transport:
                    transport.abort()
                raise
            finally:
                if transport:
                    transport.close()
                else:
                    connection.close()

    async def _shake_hands(self, connection):
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=http1.LARGEST_HEAD, loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        context = self.tls_context if self.uses_tls else None
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, connection, ssl=context)
        return transport, reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def _be_rude(connection, kind):
    """Treats a new connection badly, before a byte of TLS or HTTP was sent."""
    loop = asyncio.get_running_loop()
    if kind == "hang":
        while await loop.sock_recv(connection, 65_536):
            pass
    if kind == "garbage":
        await loop.sock_sendall(connection, os.urandom(512))


def tls_context(identity, folder, protocols):
    """A server's TLS context that offers the protocols by ALPN."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # The ssl module reads certificates and keys from files only.
    path = os.path.join(folder, "tls-identity.pem")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(identity.pem + identity.key_pem)
    context.load_cert_chain(path)
    os.remove(path)
    context.set_alpn_protocols(protocols)
    return context
