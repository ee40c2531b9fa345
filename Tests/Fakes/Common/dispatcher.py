# SPDX-License-Identifier: Apache-2.0
"""Takes each request from the transport to what answers it, as well or as badly as the rules say."""
import asyncio
import collections
import traceback

from h2.exceptions import ProtocolError

from rudeness import Plan

KEPT_REQUESTS = 10_000


class Dispatcher:
    """Also counts and keeps what was asked."""

    def __init__(self, rules):
        self._rules = rules
        self.counts = collections.Counter()
        self.requests = collections.deque(maxlen=KEPT_REQUESTS)
        self.in_flight = 0
        self.most_in_flight = 0

    def reset(self):
        """Forgets counts and requests."""
        self.counts.clear()
        self.requests.clear()
        self.most_in_flight = self.in_flight

    async def answer(self, exchange, endpoint, identifier, make_answer):
        """Answers with what `make_answer` makes of the request and the lies to tell (None: none)."""
        request = exchange.request
        self._note(endpoint, request)
        rule = self._rules.take(endpoint, request.environment, identifier)
        plan = rule.plan if rule else Plan()
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(plan.delay_milliseconds / 1000)
            answer = plan.instead or plan.change(make_answer(request, plan.lies))
            await plan.deliver(exchange, answer)
        except (OSError, ProtocolError):
            # The client has gone meanwhile.
            exchange.abort()
        except Exception:
            # A mistake in the fake; no client should wait for it.
            traceback.print_exc()
            exchange.abort()
        finally:
            self.in_flight -= 1

    def _note(self, endpoint, request):
        self.counts[endpoint] += 1
        if request.environment:
            self.counts[f"{endpoint} {request.environment}"] += 1
        self.requests.append(
            {
                "endpoint": endpoint,
                "environment": request.environment,
                "method": request.method,
                "target": request.target,
                "headers": request.headers,
                "body": request.body.decode("utf-8", "replace"),
                "protocol": request.protocol,
            }
        )
