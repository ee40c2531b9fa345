# SPDX-License-Identifier: Apache-2.0
"""A proxy on this machine that passes bytes on, and that a test can make cut, hold or slow them."""
import asyncio
import socket
import threading
from typing import Any


class FaultProxy:
    """Listens on 127.0.0.1 and connects to one port there; runs on a thread of its own."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._streams: set[asyncio.StreamWriter] = set()
        self._passes = asyncio.Event()
        self._passes.set()
        self._bytes_left: int | None = None
        self.refuses = False
        self.connections = 0
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.port: int = self._call(self._listen())

    def _call(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(20)

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self.refuses:
            return writer.transport.abort()
        try:
            other_reader, other = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            return writer.transport.abort()
        self._streams |= {writer, other}
        try:
            await asyncio.gather(self._pass(reader, other), self._pass(other_reader, writer))
        finally:
            for stream in (writer, other):
                self._streams.discard(stream)
                stream.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                await self._passes.wait()
                if self._bytes_left is not None:
                    data, self._bytes_left = data[:self._bytes_left], max(0, self._bytes_left - len(data))
                writer.write(data)
                await writer.drain()
                if self._bytes_left == 0:
                    self._bytes_left = None
                    self._abort()
            writer.write_eof()
        except (OSError, RuntimeError):
            writer.transport.abort()

    def _abort(self) -> None:
        for stream in list(self._streams):
            # A reset, as of a machine that went away, and no orderly end.
            raw = stream.get_extra_info("socket")
            if raw is not None:
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            stream.transport.abort()

    def cut(self) -> None:
        """Resets all connections."""
        self._loop.call_soon_threadsafe(self._abort)

    def cut_after(self, count: int) -> None:
        """Resets all connections once `count` more bytes have passed, at whatever point that is."""
        self._loop.call_soon_threadsafe(setattr, self, "_bytes_left", count)

    def hold(self, holds: bool) -> None:
        """Lets nothing pass, without closing anything, or lets it pass again."""
        self._loop.call_soon_threadsafe(self._passes.clear if holds else self._passes.set)

    def close(self) -> None:
        async def end() -> None:
            self._server.close()
            self._abort()
        self._call(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
