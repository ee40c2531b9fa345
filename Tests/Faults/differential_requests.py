# SPDX-License-Identifier: Apache-2.0
"""Random requests for `differential`, and what it remembers of the answers."""
import dataclasses
import json
import random
from collections.abc import Callable, Iterator

from differential_catalog import (APP_STORE_OFFERS, BUNDLE, GOOGLE_PLAY_OFFERS, MONTHLY, PACKAGE, PLAY_PLAN,
                                  PLAY_PRODUCT, YEARLY)
from differential_customers import NAMES, Customer, Customers, Object
from differential_reports import Granted, StoreReports
from differential_sides import Answer, Ask, Both, both

SIGNATURES = "/v1/app-store/promotional-offers/signatures"
BATCHES = SIGNATURES + "/batch"
INTRODUCTORY = "/v1/app-store/introductory-offers/signatures"
AUTHORIZATIONS = "/v1/google-play/offers/authorizations"
Answers = tuple[Answer, Answer]
# For each grant that a request asks for: the request, the status, and the grant or the problem.
Part = tuple[Object, int, Object]


def same(body: Object) -> Both:
    text = json.dumps(body)
    return text, text


class Requests:
    """Each kind of request is a method that gives one, or None while there is nothing to ask about."""

    def __init__(self, customers: Customers, dice: random.Random) -> None:
        self._pool, self._dice, self._number = customers, dice, 0
        # What each body says, without signed data.
        self._bodies: dict[str, Object] = {}
        # By Idempotency-Key: the request, and its first answers or the first that granted it.
        self._keyed: dict[str, tuple[Ask, Answers]] = {}
        self._granted: list[Granted] = []
        reports = StoreReports(customers, self._granted, dice)
        # How often each kind is drawn, in percent.
        kinds: dict[Callable[[], Ask | None], int] = {
            self._signature: 28, self._of_app: 4, self._batch: 5, self._authorization: 14, self._introductory: 4,
            self._preview: 8, self._again: 10, self._reused: 4, self._attributes: 6, self._transfer: 3,
            self._account_token: 2, self._import: 3, self._grant: 4, reports.purchase: 2, reports.refund: 1,
            reports.play_purchase: 1, reports.play_event: 1}
        self._kinds, self._weights = list(kinds), list(kinds.values())

    def next(self, accepts: Callable[[Ask], bool] = lambda ask: True) -> Ask:
        while True:
            ask = self._dice.choices(self._kinds, self._weights)[0]()
            if ask and accepts(ask):
                return ask

    def _customer(self) -> Customer:
        return self._dice.choice(self._pool.all)

    def _subscriber(self) -> Customer:
        """A customer with a subscription in the App Store."""
        return self._dice.choice([customer for customer in self._pool.all if customer.bought])

    def _ask(self, kind: str, path: str, body: Object, customer: Customer | None, bodies: Both | None = None) -> Ask:
        """A request that most callers send with an Idempotency-Key."""
        self._number += 1
        key = f"key-{self._number}" if self._dice.random() < 0.6 else ""
        ask = Ask(kind, (path, path), bodies or same(body), key=key, customer=customer.number if customer else -1)
        self._bodies[ask.body[0]] = body
        return ask

    # The App Store

    def _offer_body(self, customer: Customer) -> Object:
        product, offer = self._dice.choice(APP_STORE_OFFERS)
        body: Object = {"bundleId": BUNDLE, "productId": product, "offerId": offer, **self._pool.names(customer)}
        facts = self._pool.facts(customer)
        body |= {"facts": facts} if facts else {}
        if customer.bought and self._dice.random() < 0.3:
            body["transactionId"] = customer.bought
        if self._dice.random() < 0.2:
            risk, tier = self._dice.choice([0.2, 0.9]), self._dice.choice(["gold", "iron"])
            body["attributes"] = {"churnRisk": risk, "tier": tier}
        formats = self._dice.choice([None, ["v1"], ["jws"], ["v1", "jws"]])
        return body | ({"formats": formats} if formats else {})

    def _signature(self) -> Ask:
        customer = self._customer()
        return self._ask("signature", SIGNATURES, self._offer_body(customer), customer)

    def _of_app(self) -> Ask:
        """An app sends what the App Store signed, and states nothing."""
        customer = self._subscriber()
        body = {name: value for name, value in self._offer_body(customer).items()
                if name not in ("customerId", "facts", "attributes", "transactionId")}
        bodies = self._with_signed_data(body, customer)
        return dataclasses.replace(self._ask("signature for an app", SIGNATURES, body, customer, bodies), caller="app")

    def _with_signed_data(self, body: Object, customer: Customer) -> Both:
        signed = self._pool.signed(customer)
        return both(lambda side: json.dumps(body | signed[side]))

    def _batch(self) -> Ask:
        """Some customers, one of them twice."""
        some = self._dice.choices(self._pool.all, k=self._dice.randint(2, 5))
        bodies = [self._offer_body(customer) for customer in [*some, some[0]]]
        return self._ask("batch", BATCHES, {"requests": bodies}, None)

    def _introductory(self) -> Ask:
        customer = self._subscriber()
        body = self._about(customer) | {"productId": self._dice.choice([MONTHLY, MONTHLY, YEARLY])}
        if self._dice.random() < 0.5:
            body["transactionId"] = customer.bought
            return self._ask("introductory offer", INTRODUCTORY, body, customer)
        bodies = both(lambda side: json.dumps(body | self._pool.signed_app(customer, side)))
        return self._ask("introductory offer", INTRODUCTORY, body, customer, bodies)

    def _about(self, customer: Customer) -> Object:
        """The names that all calls about purchases take."""
        names = self._pool.names(customer)
        return {"bundleId": BUNDLE, **{name: value for name, value in names.items() if name != "applicationUsername"}}

    def _import(self) -> Ask:
        customer = self._subscriber()
        body = self._about(customer)
        bodies = self._with_signed_data(body, customer)
        return dataclasses.replace(self._ask("import", "/v1/transactions", body, customer, bodies), key="")

    def _account_token(self) -> Ask:
        customer = self._subscriber()
        names = {name: customer.names[name] for name in ("customerId", "appAccountToken")}
        body = {"bundleId": BUNDLE, "originalTransactionId": customer.bought, **names}
        return self._ask("account token", "/v1/app-store/app-account-tokens", body, customer)

    # Google Play

    def _authorization(self) -> Ask:
        """A backend's request, or one of an app, which only claims an anonymous ID."""
        customer = self._customer()
        names = {name: value for name, value in self._pool.names(customer).items()
                 if name in ("customerId", "anonymousId")}
        is_of_app = not names or self._dice.random() < 0.1
        names = {"anonymousId": customer.names["anonymousId"]} if is_of_app else names
        facts = {} if is_of_app else self._pool.facts(customer)
        body: Object = {"packageName": PACKAGE, "productId": PLAY_PRODUCT, "basePlanId": PLAY_PLAN,
                        "offerId": self._dice.choice(GOOGLE_PLAY_OFFERS), **names}
        body |= {"facts": facts} if facts else {}
        region = self._dice.choice(["US", "US", "DE", "FR", None])
        body |= {"regionCode": region} if region else {}
        if customer.purchases and self._dice.random() < 0.5:
            body["purchaseTokens"] = customer.purchases[-2:]
        ask = self._ask("authorization", AUTHORIZATIONS, body, customer)
        return dataclasses.replace(ask, caller="app") if is_of_app else ask

    # Both stores

    def _preview(self) -> Ask:
        customer = self._customer()
        facts = self._pool.facts(customer)
        return self._previewed(customer, self._pool.names(customer) | ({"facts": facts} if facts else {}))

    def _previewed(self, customer: Customer, members: Object) -> Ask:
        body = {"bundleId": BUNDLE, "packageName": PACKAGE, **members}
        return Ask("preview", ("/v1/eligibility",) * 2, same(body), customer=customer.number)

    def _attributes(self) -> Ask:
        customer = self._customer()
        path = f"/v1/customers/{customer.names['customerId']}/attributes?bundleId={BUNDLE}"
        method = self._dice.choice(["PUT", "PUT", "GET", "DELETE"])
        ask = Ask("attributes", (path, path), method=method, customer=customer.number)
        body: Object = {"expiresInSeconds": 604_800, "attributes": {
            "churnRisk": self._dice.choice([0.1, 0.95]), "tier": self._dice.choice(["gold", "silver", "iron"])}}
        if self._dice.random() < 0.4:
            body["facts"] = {"status": "active", "autoRenew": "off"}
        return dataclasses.replace(ask, body=same(body)) if ask.method == "PUT" else ask

    def _transfer(self) -> Ask:
        """The customer logs in on a device of their own, or on one that others use too."""
        customer = self._customer()
        device = customer if self._dice.random() < 0.8 else self._customer()
        body = {"bundleId": BUNDLE, "from": {"anonymousId": device.names["anonymousId"]},
                "to": {"customerId": customer.names["customerId"]}}
        return Ask("transfer", ("/v1/customers/transfers",) * 2, same(body), customer=customer.number)

    def _grant(self) -> Ask | None:
        return self._read(self._dice.choice(self._granted)) if self._granted else None

    def _read(self, grant: Granted) -> Ask:
        path = both(lambda side: f"/v1/grants/{grant.answers[side]['grantId']}")
        return Ask("read of a grant", path, method="GET", customer=grant.customer.number)

    # With a key that was used before

    def _again(self) -> Ask | None:
        """The same bytes with the same key."""
        if not self._keyed:
            return None
        ask, _ = self._dice.choice(list(self._keyed.values()))
        return dataclasses.replace(ask, kind="repetition")

    def _reused(self) -> Ask | None:
        """Another body with the key; it is refused if the first one was granted."""
        found = [ask for ask, _ in self._keyed.values() if ask.kind == "signature"]
        if not found:
            return None
        ask = self._dice.choice(found)
        body = self._bodies[ask.body[0]]
        other = same(body | {"formats": ["jws"] if body.get("formats") != ["jws"] else ["v1"]})
        self._bodies[other[0]] = json.loads(other[0])
        return dataclasses.replace(ask, kind="used key", body=other)

    # The end

    def last(self) -> Iterator[Ask]:
        """Every customer's counts under each name alone, every grant, and the uses that the stores reported."""
        for customer in self._pool.all:
            # With these facts, most rules depend on counts alone.
            facts = {"status": "expired", "expiresAt": "2026-01-01T12:00:00Z", "originalTransactionId": customer.chain}
            yield from (self._previewed(customer, {name: customer.names[name], "facts": facts}) for name in NAMES)
        yield from map(self._read, self._granted)
        yield Ask("reconciliation", ("/v1/audit/reconciliation",) * 2, method="GET", caller="auditor")

    # What came of them

    def learn(self, ask: Ask, answers: Answers) -> None:
        """Remembers what later requests can be about."""
        if ask.key and ask.kind != "used key":
            known = self._keyed.get(ask.key)
            if known is None or known[1][0].status != 200:
                self._keyed[ask.key] = (known[0] if known else ask, answers)
        if answers[0].status == 200 and ask.body[0] in self._bodies and "grantId" in answers[0].body:
            customer = self._pool.all[ask.customer]
            self._granted.append(Granted(customer, self._bodies[ask.body[0]], (answers[0].body, answers[1].body)))

    def first_answers(self, ask: Ask) -> Answers:
        return self._keyed[ask.key][1]

    def parts(self, ask: Ask, answer: Answer) -> list[Part]:
        if ask.path[0] not in (SIGNATURES, BATCHES, INTRODUCTORY, AUTHORIZATIONS):
            return []
        body = self._bodies[ask.body[0]]
        if "requests" in body and answer.status == 200:
            return [(part, result["status"], result.get("grant") or result["problem"])
                    for part, result in zip(body["requests"], answer.body["results"], strict=True)]
        return [(part, answer.status, answer.body) for part in body.get("requests", [body])]
