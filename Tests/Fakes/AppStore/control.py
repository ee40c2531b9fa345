# SPDX-License-Identifier: Apache-2.0
"""The control calls: how a test sets the state, has things signed, misbehaves the fake and reads what happened."""
import inspect
import json

import jws
import signer
from misbehaviour import KINDS, Rule
from notification_history import HistoryItem
from ocsp import BEHAVIOURS
from payloads import STATES


class ControlError(Exception):
    """Why a call could not be done, for the person who made it."""


class Control:
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
        except (ValueError, KeyError, TypeError, IndexError, signer.UnknownFault) as error:
            raise ControlError(f"{name}: {type(error).__name__}: {error}") from error

    def _calls(self):
        return [name for name, _ in inspect.getmembers(self, inspect.ismethod) if name[0] != "_" and name != "handle"]

    # What there is

    def describe(self):
        """Where the fake listens, and the names that other calls take."""
        return self._fake.description() | {
            "calls": self._calls(),
            "states": list(STATES),
            "faults": signer.describe(),
            "acceptableFaults": sorted(signer.ACCEPTABLE),
            "misbehaviours": list(KINDS),
            "ocspBehaviours": list(BEHAVIOURS),
        }

    # State

    def reset(self):
        """Forgets customers, misbehaviour and counts; keys and chain stay."""
        self._fake.reset()
        return {}

    def setApp(self, bundleId, appAppleId):
        self._fake.store.apps[bundleId] = appAppleId
        return {}

    def registerKey(self, keyId, issuerId, publicKeyPEM, bundleIds):
        """Lets tokens signed with the key in."""
        self._fake.keys.register(keyId, issuerId, publicKeyPEM, bundleIds)
        return {}

    def revokeKey(self, keyId):
        self._fake.keys.revoke(keyId)
        return {}

    def setCustomer(self, **description):
        customer = self._fake.store.set_customer(description)
        subscriptions = [
            {
                "originalTransactionId": subscription.original_id,
                "transactionIds": [transaction["transactionId"] for transaction in subscription.transactions],
                "subscriptionGroupIdentifier": subscription.group,
                "status": subscription.status,
            }
            for subscription in customer.subscriptions
        ]
        return {
            "customer": customer.name,
            "appTransactionId": customer.app_transaction_id,
            "subscriptions": subscriptions,
            "purchaseIds": [purchase["transactionId"] for purchase in customer.purchases],
        }

    # Signed data

    def signTransaction(self, **arguments):
        return {"jws": self._fake.signed_data.transaction(arguments)}

    def signRenewalInfo(self, **arguments):
        return {"jws": self._fake.signed_data.renewal_info(arguments)}

    def signAppTransaction(self, **arguments):
        return {"jws": self._fake.signed_data.app_transaction(arguments)}

    def signRealtimeRequest(self, **arguments):
        return self._body_of(self._fake.signed_data.realtime_request(arguments))

    def signPayload(self, **arguments):
        return {"jws": self._fake.signed_data.any_payload(arguments)}

    def signNotification(self, **arguments):
        """With `sendAttempts`, the notification also stands in the notification history, in that order."""
        signed, payload = self._fake.signed_data.notification(arguments)
        if "sendAttempts" in arguments:
            self._record(signed, payload, arguments)
        return self._body_of(signed) | {"notificationUUID": payload["notificationUUID"]}

    @staticmethod
    def _body_of(signed):
        return {"jws": signed, "body": jws.to_json({"signedPayload": signed}).decode()}

    def _record(self, signed, payload, arguments):
        environment, bundle_id, ids = arguments.get("environment", "Production"), arguments.get("bundleId"), set()
        if "transactionId" in arguments:
            customer = self._fake.store.find_anywhere(arguments["transactionId"])
            environment, bundle_id, ids = customer.environment, customer.bundle_id, customer.ids
        item = HistoryItem(
            signed,
            payload["signedDate"],
            payload["notificationType"],
            payload.get("subtype"),
            frozenset(ids),
            bundle_id,
            tuple(arguments["sendAttempts"]),
        )
        self._fake.store.notifications.append((environment, item))

    # Rudeness

    def misbehave(self, kind, endpoint="*", environment=None, times=None, onlyFor=None, **arguments):
        """For the next so many requests (without a number: until `behave`) to the endpoint, or only those for an id."""
        rule = Rule(kind, endpoint, environment, times, onlyFor, arguments)
        self._fake.rules.add(rule)
        return {}

    def behave(self, endpoint=None):
        """Ends all misbehaviour, or that of one endpoint. Requests that hang go on hanging."""
        self._fake.rules.clear(endpoint)
        return {}

    def setOCSP(self, behaviour, certificate="*"):
        self._fake.responder.choose(certificate, behaviour)
        return {}

    def setTLS(self, certificate=None, protocols=None):
        self._fake.set_tls(certificate, protocols)
        return {}

    def listen(self, isOpen, environment=None):
        """Closes or opens the ports of an environment, or of both."""
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
            "ocspConnections": self._fake.ocsp_connections.opened,
            "tokens": len(self._fake.api.tokens),
            "refusals": self._fake.api.refusals,
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
