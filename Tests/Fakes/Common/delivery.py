# SPDX-License-Identifier: Apache-2.0
"""Ways to send an answer, most of them rude. Each takes an exchange (of http1 or http2) and the answer."""
import asyncio


async def normally(exchange, answer):
    await exchange.head(answer.status, answer.headers, len(answer.body))
    await exchange.data(answer.body)
    await exchange.finish()


async def hang(exchange, answer):
    """Says nothing until the client goes away."""
    await exchange.until_gone()


async def close_at_once(exchange, answer):
    exchange.abort()


async def reset(exchange, answer):
    """HTTP/2: RST_STREAM. HTTP/1.1: ends the connection."""
    await exchange.reset()


async def go_away(exchange, answer):
    """HTTP/2: GOAWAY after the answer. HTTP/1.1: closes after the answer."""
    await normally(exchange, answer)
    await exchange.go_away()


def dripping(interval_milliseconds, chunk_bytes):
    async def drip(exchange, answer):
        await exchange.head(answer.status, answer.headers, len(answer.body))
        for start in range(0, len(answer.body), chunk_bytes):
            await exchange.data(answer.body[start : start + chunk_bytes])
            await asyncio.sleep(interval_milliseconds / 1000)
        await exchange.finish()

    return drip


def cut_off(after_bytes):
    """Declares the length of the body, and ends the connection in the middle of it."""

    async def cut(exchange, answer):
        await exchange.head(answer.status, answer.headers, len(answer.body))
        await exchange.data(answer.body[: len(answer.body) // 2 if after_bytes is None else after_bytes])
        exchange.close()

    return cut


def stall(after_bytes):
    """Stops in the middle of the body, and keeps the connection."""

    async def stop(exchange, answer):
        await exchange.head(answer.status, answer.headers, len(answer.body))
        await exchange.data(answer.body[: len(answer.body) // 2 if after_bytes is None else after_bytes])
        await exchange.until_gone()

    return stop


def garbage(data):
    """Bytes that are no HTTP, within TLS."""

    async def send(exchange, answer):
        await exchange.raw(data)
        exchange.close()

    return send


def without_length(total_bytes):
    """A body of undeclared length; endless if no total is given."""

    async def send(exchange, answer):
        await exchange.head(200, [("content-type", "application/json")], None)
        await exchange.data(b'{"filler":"')
        sent = 0
        while total_bytes is None or sent < total_bytes:
            await exchange.data(b"x" * 16_384)
            sent += 16_384
            if total_bytes is None:
                # 16 MB a second for ever are enough.
                await asyncio.sleep(0.001)
        await exchange.data(b'"}')
        await exchange.finish()

    return send
