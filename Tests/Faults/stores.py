# SPDX-License-Identifier: Apache-2.0
"""Fakes of both stores, as programs beside the service that asks them."""
import json
import os
import subprocess
from typing import Any

from place import ENDS_WITH_US, HERE, PYTHON, Failure, Place

KEY, ISSUER, APP = "ABC123DEFG", "57246542-96fe-1a63-e053-0824d011072a", "com.example.app"


class Fake:
    """A program in Tests/Fakes; it ends when its standard input does."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._program = subprocess.Popen(
            [*ENDS_WITH_US, PYTHON, "-B", os.path.join(HERE, "..", "Fakes", name)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.description = self._answer()

    def _answer(self) -> dict[str, Any]:
        if self._program.stdout is None:
            raise Failure(f"the fake {self._name} has no output")
        found: dict[str, Any] = json.loads(self._program.stdout.readline())
        return found

    def call(self, name: str, **arguments: Any) -> Any:
        if self._program.stdin is None:
            raise Failure(f"the fake {self._name} has no input")
        self._program.stdin.write(json.dumps({"call": name, "arguments": arguments}) + "\n")
        self._program.stdin.flush()
        answer = self._answer()
        if "error" in answer:
            raise Failure(f"the fake {self._name} refuses {name}: {answer['error']}")
        return answer.get("result")

    def stop(self) -> None:
        if self._program.stdin is not None:
            self._program.stdin.close()
        self._program.wait()


class FakeAppStore(Fake):
    def __init__(self) -> None:
        super().__init__("AppStore")

    def options(self) -> list[str]:
        """Of `serve`, so that it asks this store and believes it."""
        origins = self.description["origins"]["https"]
        return ["--app-store-url", origins["Production"], "--app-store-sandbox-url", origins["Sandbox"],
                "--trusted-certificates", self.description["tlsCAPath"],
                "--app-store-roots", self.description["rootPEMPath"], "--revocation-check", "off"]

    def admit(self, place: Place) -> None:
        """Makes the example's key one that the store takes, and that the service asks with."""
        place.edit("keys", 'purposes: ["promotional-offer"', 'purposes: ["app-store-server-api", "promotional-offer"')
        self.call("registerKey", keyId=KEY, issuerId=ISSUER, bundleIds=[APP],
                  publicKeyPEM=place.text("demo/public-key.pem"))

    def customers(self, count: int) -> list[str]:
        """Transactions of `count` customers with subscriptions that ended two months ago."""
        found = []
        for number in range(count):
            ids = self.call("setCustomer", customer=f"customer-{number}", subscriptions=[{
                "state": "expired", "productId": "com.example.pro.monthly", "endsInDays": -60,
                "subscriptionGroupIdentifier": "21234567"}])
            found.append(ids["subscriptions"][0]["originalTransactionId"])
        return found

    def __enter__(self) -> "FakeAppStore":
        return self

    def __exit__(self, *rest: object) -> None:
        self.stop()


class FakeGooglePlay(Fake):
    ACCOUNT = "offer-signer@example-project.iam.gserviceaccount.com"

    def __init__(self) -> None:
        super().__init__("GooglePlay")

    def options(self) -> list[str]:
        """Of `serve`, so that it asks this store, without TLS: only one authority can be named for both stores."""
        origin, push = self.description["origins"]["http"], self.call("setPush")
        return ["--google-play-url", origin, "--google-oauth-url", origin, "--google-certs-url", origin,
                "--google-push-audience", push["audience"], "--google-push-email", push["email"]]

    def admit(self, place: Place) -> None:
        """Gives the service an account that the store knows."""
        self.call("setServiceAccount", email=self.ACCOUNT, packageNames=[APP])
        path = self.call("addAccountKey", email=self.ACCOUNT)["path"]
        place.edit("keys", "  // googleServiceAccounts:", f'  googleServiceAccounts: [{{ packageNames: ["{APP}"], '
                   f'file: "{path}" }}],\n  // googleServiceAccounts:')
