# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 (RFC 9113) by the h2 library: several requests of a connection are answered at the same time."""
import asyncio

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import ConnectionTerminated, DataReceived, RequestReceived, StreamEnded, StreamReset
from h2.exceptions import ProtocolError

from messages import Request


class Exchange:
    """One stream and the means to answer it."""

    def __init__(self, request, connection, stream):
        self.request = request
        self._connection = connection
        self._stream = stream

    async def head(self, status, headers, length):
        framing = [] if length is None else [("content-length", str(length))]
        fields = [(":status", str(status)), *headers, *framing]
        self._connection.h2.send_headers(self._stream, fields)
        await self._connection.flush()

    async def data(self, data):
        """Sends as much as the client's windows allow, and waits for more."""
        while data:
            size = await self._connection.window(self._stream)
            self._connection.h2.send_data(self._stream, data[:size])
            data = data[size:]
            await self._connection.flush()

    async def finish(self):
        self._connection.h2.end_stream(self._stream)
        await self._connection.flush()

    async def raw(self, data):
        self._connection.writer.write(data)
        await self._connection.writer.drain()

    def abort(self):
        self._connection.writer.transport.abort()

    def close(self):
        self._connection.writer.close()

    async def reset(self):
        self._connection.h2.reset_stream(self._stream, ErrorCodes.INTERNAL_ERROR)
        await self._connection.flush()

    async def go_away(self):
        self._connection.h2.close_connection()
        await self._connection.flush()

    async def until_gone(self):
        # The connection cancels the stream's task when the client resets it or goes away.
        await asyncio.Event().wait()


class Connection:
    """A connection and the tasks of its streams."""

    def __init__(self, reader, writer, respond, environment):
        self.reader = reader
        self.writer = writer
        self.respond = respond
        self.environment = environment
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._requests = {}
        self._tasks = {}
        self._window_moved = asyncio.Event()

    async def flush(self):
        self.writer.write(self.h2.data_to_send())
        await self.writer.drain()

    async def window(self, stream):
        """How many bytes may be sent now; waits until that is more than none."""
        while True:
            size = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
            if size > 0:
                return size
            self._window_moved.clear()
            await self._window_moved.wait()

    async def run(self):
        self.h2.initiate_connection()
        await self.flush()
        try:
            while data := await self.reader.read(65_536):
                for event in self.h2.receive_data(data):
                    self._handle(event)
                await self.flush()
        except ProtocolError:
            await self.flush()
        finally:
            for task in self._tasks.values():
                task.cancel()
            self.writer.close()

    def _handle(self, event):
        match event:
            case RequestReceived():
                self._requests[event.stream_id] = self._request(event.headers)
            case DataReceived():
                self._requests[event.stream_id].body += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case StreamEnded():
                self._begin(event.stream_id)
            case StreamReset() if event.stream_id in self._tasks:
                self._tasks[event.stream_id].cancel()
            case ConnectionTerminated():
                self.writer.close()
            case _:
                # Among them WindowUpdated, and new settings that widen the windows.
                self._window_moved.set()

    def _request(self, fields):
        values = dict(fields)
        headers = {name: value for name, value in values.items() if not name.startswith(":")}
        headers.setdefault("host", values.get(":authority", ""))
        return Request(values[":method"], values[":path"], headers, b"", "h2", self.environment)

    def _begin(self, stream):
        exchange = Exchange(self._requests.pop(stream), self, stream)
        task = asyncio.get_running_loop().create_task(self.respond(exchange))
        self._tasks[stream] = task
        task.add_done_callback(lambda task: self._tasks.pop(stream, None))


async def serve(reader, writer, respond, environment):
    await Connection(reader, writer, respond, environment).run()
