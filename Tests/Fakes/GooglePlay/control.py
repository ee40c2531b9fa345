# SPDX-License-Identifier: Apache-2.0
"""The fake Google Play's own control calls: how a test sets the state and has messages pushed."""
import dataclasses

import proto3
import push_faults
from api import HONEST
from control_calls import ControlCalls
from fake import FIRST_APP
from life import events
from notifications import TYPES
from purchase_json import account_identifiers
from times import DAY


class Control(ControlCalls):
    """Each public method is a call: its parameters are the members of the JSON that comes with it."""

    def describe(self):
        """Where the fake listens, and the names that other calls take."""
        return super().describe() | {
            "events": events(),
            "notificationTypes": TYPES,
            "faults": {name: sentence for name, (_, sentence) in push_faults.TOKEN_FAULTS.items()},
            "acceptableFaults": sorted(push_faults.ACCEPTABLE),
        }

    # Time and habits

    def setTime(self, milliseconds=None, standsStill=False):
        """Goes on from there; without a number: the real time."""
        self._fake.clock.set(milliseconds, standsStill)
        return {}

    def advance(self, milliseconds):
        self._fake.clock.advance(milliseconds)
        return {}

    def setHabits(self, **members):
        """Those named; the others stay."""
        own = self._fake.habits
        changed = dataclasses.replace(own, **{snake_case(name): value for name, value in members.items()})
        changed.check()
        vars(own).update(vars(changed))
        return {}

    # Service accounts and tokens

    def setApp(self, packageName):
        self._fake.api.package_names.add(packageName)
        return {}

    def setServiceAccount(self, email, packageNames, isDisabled=False):
        """Makes an account without keys, or changes the one that there is."""
        self._fake.accounts.add(email, packageNames).is_disabled = isDisabled
        return {}

    def addAccountKey(self, email, members=None):
        key_id, path = self._fake.accounts.add_key(email, members or {})
        return {"keyId": key_id, "path": path}

    def deleteAccountKey(self, keyId):
        self._fake.accounts.delete_key(keyId)
        return {}

    def setTokens(self, lifeSeconds=3599, writesLifeAsText=False):
        """For tokens given from now on."""
        self._fake.tokens.life_seconds, self._fake.tokens.writes_life_as_text = lifeSeconds, writesLifeAsText
        return {}

    def revokeTokens(self):
        self._fake.tokens.revoke_all()
        return {}

    # Catalog

    def setSubscription(self, packageName=FIRST_APP, **description):
        self._fake.catalog.put_subscription(packageName, description)
        return {}

    def setOffer(self, packageName=FIRST_APP, **description):
        self._fake.catalog.put_offer(packageName, description)
        return {}

    def edit(self, productId, path, value=None, packageName=FIRST_APP, basePlanId=None, offerId=None):
        """Sets the member that a JSON pointer names; without a value takes it away."""
        self._fake.catalog.edit((packageName, productId, basePlanId, offerId), path, value)
        return {}

    def remove(self, productId, packageName=FIRST_APP, basePlanId=None, offerId=None):
        self._fake.catalog.remove(packageName, productId, basePlanId, offerId)
        return {}

    def readResource(self, productId, packageName=FIRST_APP, basePlanId=None, offerId=None):
        """The text that a good answer has for a subscription, a base plan or an offer."""
        return self._text(self._fake.catalog.find(packageName, productId, basePlanId, offerId))

    def readPurchase(self, token):
        """The text that a good answer has for a purchase, also for one that is gone."""
        return self._text(self._fake.writer.write(self._fake.purchases.get(token)))

    def _text(self, resource):
        return {"text": proto3.answer(resource, self._fake.habits, HONEST).body.decode()}

    # Purchases

    def purchase(self, packageName=FIRST_APP, at=None, daysAgo=0, replaces=None, resubscribes=None, **description):
        """Buys; may take the place of another purchase, or follow one that has ended, outside of the app."""
        at = self._time(at, daysAgo)
        purchase = self._fake.purchases.make(description | {"packageName": packageName}, at)
        sent = self._fake.life.begin(purchase, at)
        if replaces:
            sent += self._replace(self._fake.purchases.get(replaces), purchase, at, description.get("replacementMode"))
        if resubscribes:
            self._resubscribe(self._fake.purchases.get(resubscribes), purchase)
        return self._outcome(purchase, sent)

    def _replace(self, old, new, at, mode):
        return self._fake.life.replace(old, at, by=new, **({"mode": mode} if mode else {}))

    def _resubscribe(self, old, new):
        new.out_of_app = {
            "expiredExternalAccountIdentifiers": account_identifiers(old), "expiredPurchaseToken": old.token,
        }
        new.is_acknowledged = False

    def happen(self, token, event, at=None, daysAgo=0, **arguments):
        """Something happens to a purchase."""
        purchase = self._fake.purchases.get(token)
        return self._outcome(purchase, self._fake.life.happen(event, purchase, self._time(at, daysAgo), arguments))

    def editPurchase(self, token, path, value=None):
        """Sets what the JSON pointer names in every answer about the purchase from now on, or takes it away."""
        purchase = self._fake.purchases.get(token)
        proto3.edit(self._fake.writer.write(purchase), path, value)
        purchase.edits.append((path, value))
        return {}

    def _time(self, at, days_ago):
        return int((self._fake.clock.now() if at is None else at) - days_ago * DAY)

    @staticmethod
    def _outcome(purchase, sent):
        return {"token": purchase.token, "messageIds": [notification.message_id for notification in sent]}

    # Play Integrity

    def setIntegrityToken(self, token, payload, packageName=FIRST_APP, goodFor=None):
        """What is answered about a token, `goodFor` times (None: always); then its verdicts are cleared."""
        self._fake.api.integrity_tokens.put(token, packageName, payload, goodFor)
        return {}

    # Push

    def setPush(self, audience=None, email=None):
        pusher = self._fake.pusher
        pusher.audience, pusher.email = audience or pusher.audience, email or pusher.email
        return {"audience": pusher.audience, "email": pusher.email}

    def makeNotification(self, packageName=FIRST_APP, at=None, kind="testNotification", body=None):
        """One that no purchase caused."""
        body = {"version": "1.0"} if body is None else body
        notification = self._fake.notifications.add(packageName, self._time(at, 0), kind, body)
        return {"messageId": notification.message_id}

    def pushMessage(self, messageId, claims=None, fault=None, renamed=None, **arguments):
        """What Pub/Sub posts for a notification, as often as it is asked for; `renamed` is another id for it."""
        notification = self._fake.notifications.find(messageId)
        if renamed:
            arguments["messageId"] = renamed
        token = self._fake.pusher.token(claims, fault)
        return {
            "messageId": renamed or messageId,
            "body": self._fake.pusher.body(notification, arguments),
            "authorization": f"Bearer {token}",
        }

    def rotateKeys(self, keepsOld=True, publishes=True):
        self._fake.keys.rotate(keepsOld, publishes)
        return {}

    def publishKeys(self):
        self._fake.keys.publish()
        return {}

    def setCertificates(self, maxAgeSeconds=None, members=None):
        self._fake.keys.max_age_seconds, self._fake.keys.members = maxAgeSeconds, members or {}
        return {}

    # What happened

    def counts(self):
        tokens = self._fake.tokens
        return super().counts() | {
            "tokensIssued": tokens.issued, "tokenRefusals": tokens.refusals, "apiRefusals": tokens.api_refusals,
        }


def snake_case(name):
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
