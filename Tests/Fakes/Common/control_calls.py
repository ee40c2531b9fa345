# SPDX-License-Identifier: Apache-2.0
"""The control calls that all fakes have, and how calls come in: by lines of JSON."""
import inspect
import json

import jws


class ControlError(Exception):
    """Why a call could not be done, for the person who made it."""


class ControlCalls:
    """Each public method is a call: its parameters are the members of the JSON that comes with it."""

    def __init__(self, fake):
        self._fake = fake

    def handle(self, name, arguments):
        """Does a call and returns what it answers; raises ControlError."""
        method = getattr(self, name, None)
        if name.startswith("_") or name == "handle" or not inspect.ismethod(method):
            raise ControlError(f"no call {name!r}; there are {', '.join(self._calls())}")
        try:
            return method(**arguments)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise ControlError(f"{name}: {type(error).__name__}: {error}") from error

    def _calls(self):
        return [name for name, _ in inspect.getmembers(self, inspect.ismethod) if name[0] != "_" and name != "handle"]

    def describe(self):
        """Where the fake listens, and the names that other calls take."""
        return self._fake.description() | {"calls": self._calls(), "misbehaviours": list(self._fake.rules.kinds)}

    def reset(self):
        """Each fake defines it; at least it ends misbehaviour and clears counts."""
        self._fake.reset()
        return {}

    # Rudeness

    def misbehave(self, kind, endpoint="*", environment=None, times=None, onlyFor=None, **arguments):
        """For the next `times` requests (None: until `behave`) to the endpoint, or only those for an id."""
        self._fake.rules.add(kind, endpoint, environment, times, onlyFor, arguments)
        return {}

    def behave(self, endpoint=None):
        """Ends all misbehaviour, or the misbehaviour of one endpoint. Requests that hang go on hanging."""
        self._fake.rules.clear(endpoint)
        return {}

    def setTLS(self, certificate=None, protocols=None):
        self._fake.set_tls(certificate, protocols)
        return {}

    def listen(self, isOpen, environment=None):
        """Closes or opens the ports of an environment, or of all."""
        for (own, _), listener in self._fake.listeners.items():
            if environment in (None, own):
                listener.open() if isOpen else listener.close()
        return {}

    def dropConnections(self):
        for listener in self._fake.listeners.values():
            listener.drop_connections()
        return {}

    # What happened

    def counts(self):
        dispatcher, connections = self._fake.dispatcher, self._fake.connections
        return {
            "requests": dict(dispatcher.counts),
            "inFlight": dispatcher.in_flight,
            "mostInFlight": dispatcher.most_in_flight,
            "connections": connections.opened,
            "openConnections": connections.open,
            "mostOpenConnections": connections.most_open,
        }

    def requests(self):
        """What was asked, from the oldest, with the headers; of very many, the last."""
        return {"requests": list(self._fake.dispatcher.requests)}

    def resetCounts(self):
        self._fake.forget_counts()
        return {}


def handle_line(control, line):
    """A call as a line of JSON, `{"call":…,"arguments":{…}}`, and the line that answers it."""
    try:
        message = json.loads(line)
        result = {"result": control.handle(message["call"], message.get("arguments", {}))}
    except (ValueError, KeyError, TypeError, ControlError) as error:
        result = {"error": str(error)}
    return jws.to_json(result)
