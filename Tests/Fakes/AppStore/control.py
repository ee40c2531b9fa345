# SPDX-License-Identifier: Apache-2.0
"""The fake App Store's own control calls: how a test sets the state and has things signed."""
import jws
import signer
from control_calls import ControlCalls
from notification_history import HistoryItem
from ocsp import BEHAVIOURS
from payloads import STATES


class Control(ControlCalls):
    """Each public method is a call: its parameters are the members of the JSON that comes with it."""

    def describe(self):
        """Where the fake listens, and the names that other calls take."""
        return super().describe() | {
            "states": list(STATES),
            "faults": signer.describe(),
            "acceptableFaults": sorted(signer.ACCEPTABLE),
            "ocspBehaviours": list(BEHAVIOURS),
        }

    # State

    def setApp(self, bundleId, appAppleId):
        self._fake.store.apps[bundleId] = appAppleId
        return {}

    def registerKey(self, keyId, issuerId, publicKeyPEM, bundleIds):
        """Lets tokens signed with the key in."""
        self._fake.keys.register(keyId, issuerId, publicKeyPEM, bundleIds)
        return {}

    def registerConnectKey(self, keyId, issuerId, publicKeyPEM):
        """Lets tokens for the App Store Connect API in that are signed with the key."""
        self._fake.keys.register(keyId, issuerId, publicKeyPEM, [], is_for_connect=True)
        return {}

    def setConnect(self, apps):
        """What App Store Connect has: apps with id, bundleId, name and groups; those with id, name and subscriptions;
        those with id, productId, state and offers, a list of identifiers."""
        self._fake.connect.apps = apps
        return {}

    def setMessaging(self, environment, bundleId, messages, realtimeURL=None, defaults=None):
        """Gives the app's team access to Retention Messaging there: messages are as in Apple's list, defaults are
        identifiers by "product/locale"."""
        self._fake.messaging.setups[environment, bundleId] = {
            "messages": messages, "realtimeURL": realtimeURL, "defaults": defaults or {},
        }
        return {}

    def setPerformanceTest(self, results):
        """What each question about the test is answered, the last one again and again; members as Apple's."""
        self._fake.messaging.results = results
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
        """With `sendAttempts`, the notification is also in the notification history, in that order."""
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

    def setOCSP(self, behaviour, certificate="*"):
        self._fake.responder.choose(certificate, behaviour)
        return {}

    def counts(self):
        return super().counts() | {
            "ocspConnections": self._fake.ocsp_connections.opened,
            "tokens": len(self._fake.api.tokens),
            "refusals": self._fake.api.refusals,
        }
