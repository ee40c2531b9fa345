# SPDX-License-Identifier: Apache-2.0
"""Lets an app ask a service that demands App Attest, from devices that cryptography and cbor2 make.

Usage: PYTHON -B Tests/AppAttest BINARY

Everything runs on 127.0.0.1. Scripts/app-attest has the libraries.
"""
import http.client
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "Tests/IdentityProvider"))

from device import DEVELOPMENT, Authority, Device, base64_text  # noqa: E402
from place import BUNDLE, FakeAppStore  # noqa: E402

APP_ID = f"ABCDE12345.{BUNDLE}"
ACCOUNT = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
SIGNATURES = "/v1/app-store/promotional-offers/signatures"
RULE = '{appOrigin: {in: ["appStore"]}}'
failures, checks = [], 0


def expect(what, answer, status, problem=None):
    """Compares the answer's status and its problem."""
    global checks
    checks += 1
    found = answer[1].get("type", "").rsplit("/", 1)[-1] or None
    if answer[0] != status or found != problem:
        failures.append(f"{what}: {answer[0]} {found} instead of {status} {problem}: {answer[1]}")


def asked(purchase):
    """A request for an offer, of a customer whose purchase the app shows."""
    return json.dumps({"bundleId": BUNDLE, "productId": "com.example.pro.yearly", "offerId": "yearly_upgrade",
                       "appAccountToken": ACCOUNT, "signedTransactions": [purchase]}).encode()


class Service:
    """The demo, with an app that has to prove itself; ends with the block."""

    def __init__(self, binary, place, roots):
        self.binary, self.place, self.roots, self.log = binary, place, roots, place / "service.log"

    def __enter__(self):
        demo = self.place / "demo"
        subprocess.run([self.binary, "demo", demo], check=True, stdout=subprocess.DEVNULL)
        self.files = ["--keys", demo / "keys", "--offers", demo / "offers"]
        self.database = ["--database", f"sqlite:{demo}/offer-signer.db"]
        offers = demo / "offers"
        settings = 'appAttest: {teamId: "ABCDE12345", policy: "require"},'
        text = offers.read_text().replace("appAppleId:", f"{settings} appAppleId:", 1)
        text = re.sub(r'id: "yearly_upgrade",', f'id: "yearly_upgrade", eligibility: {RULE},', text, count=1)
        assert RULE in text and settings in text
        offers.write_text(text)
        done = subprocess.run([self.binary, "callers", "add", "the-app", "--role", "app", "--bundle", BUNDLE, *self.files,
                               *self.database], check=True, capture_output=True, text=True)
        self.api_key = re.search(r"[0-9a-f]{16}\.[A-Za-z0-9_-]{43}", done.stdout)[0]
        self.start()
        return self

    def start(self):
        self.program = subprocess.Popen(
            [self.binary, "serve", *self.files, *self.database, "--listen", "127.0.0.1:0", "--clock-check", "warn",
             "--app-store-roots", self.roots, "--revocation-check", "off", "--app-rate-per-customer", "none",
             "--app-rate-per-address", "none"], stderr=self.log.open("w"))
        for _ in range(300):
            found = re.search(r'"message":"listening".*"port":(\d+)', self.log.read_text())
            if found:
                self.port = int(found[1])
                return
            time.sleep(0.1)
        sys.exit(f"The service does not listen:\n{self.log.read_text()}")

    def stop(self):
        self.program.terminate()
        self.program.wait()

    def __exit__(self, *_):
        self.stop()

    def post(self, path, body, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        fields = {"Authorization": f"Bearer {self.api_key}", "Content-Type": "application/json", **(headers or {})}
        connection.request("POST", path, body, fields)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text)

    def challenge(self):
        return self.post("/v1/app-attest/challenges", json.dumps({"bundleId": BUNDLE}))[1]["challenge"]

    def register(self, device, challenge=None, **how):
        challenge = challenge or self.challenge()
        members = {"bundleId": BUNDLE, "keyId": device.key_id, "challenge": challenge,
                   "attestation": base64_text(device.attestation(challenge, **how))}
        return self.post("/v1/app-attest/keys", json.dumps(members))

    def ask(self, device, purchase, challenge=None, counter=None, sent=None, key_id=None):
        """Asks for an offer with an assertion; `sent` is what is sent in place of the body that was signed."""
        challenge = challenge or self.challenge()
        body = asked(purchase)
        fields = {"App-Attest-Key-Id": key_id or device.key_id, "App-Attest-Challenge": challenge,
                  "App-Attest-Assertion": device.assertion("POST", SIGNATURES, challenge, body, counter)}
        return self.post(SIGNATURES, sent(body) if sent else body, fields)


def registrations(service, authority):
    """Keys of genuine apps are registered, and no others."""
    genuine = Device(authority, APP_ID)
    expect("genuine", service.register(genuine), 200)
    expect("genuine, again", service.register(genuine), 200)
    wrong = [
        ("re-signed by another team", Device(authority, f"ZZZZZ99999.{BUNDLE}"), {}),
        ("another app", Device(authority, "ABCDE12345.com.example.other"), {}),
        ("another root", Device(Authority(), APP_ID), {}),
        ("the development service", Device(authority, APP_ID, identifier=DEVELOPMENT), {}),
        ("an expired certificate", Device(authority, APP_ID), {"days": -1}),
        ("an indefinite map", Device(authority, APP_ID), {"canonical": False}),
    ]
    for what, device, how in wrong:
        expect(what, service.register(device, **how), 403, "genuine-app-refused")
    challenge = service.challenge()
    expect("a challenge", service.register(Device(authority, APP_ID), challenge), 200)
    expect("a challenge twice", service.register(Device(authority, APP_ID), challenge), 403, "app-attest-challenge")
    expect("a made-up challenge", service.register(Device(authority, APP_ID), "A" * 51), 403, "app-attest-challenge")
    return genuine


def assertions(service, authority, genuine, purchase):
    """Each request needs a proof of its own, and each counts once."""
    expect("no proof", service.post(SIGNATURES, asked(purchase)), 403, "genuine-app-required")
    expect("a proof", service.ask(genuine, purchase), 200)
    expect("the next proof", service.ask(genuine, purchase), 200)
    expect("the same counter", service.ask(genuine, purchase, counter=2), 403, "genuine-app-refused")
    expect("a lower counter", service.ask(genuine, purchase, counter=1), 403, "genuine-app-refused")
    expect("a counter that jumps", service.ask(genuine, purchase, counter=1000), 200)
    expect("another body", service.ask(genuine, purchase, sent=lambda text: text + b" "), 403, "genuine-app-refused")
    stranger = Device(authority, APP_ID)
    expect("not registered", service.ask(stranger, purchase), 403, "app-attest-key-unknown")
    expect("another's key ID", service.ask(stranger, purchase, key_id=genuine.key_id), 403, "genuine-app-refused")
    genuine.counter = 1001


def origins(service, authority, purchase):
    """Where the rule asks where the app is from, others get no offer."""
    for category, status, problem in ((4, 200, None), (2, 403, "not-eligible"), (3, 403, "not-eligible"),
                                      (5, 403, "not-eligible"), (None, 403, "eligibility-undecided")):
        device = Device(authority, APP_ID, category=category)
        expect(f"category {category} registers", service.register(device), 200)
        expect(f"category {category}", service.ask(device, purchase), status, problem)
    # A key keeps its app, but another app's assertion under it is refused.
    device = Device(authority, APP_ID)
    expect("before it is re-signed", service.register(device), 200)
    device.app_id = f"ZZZZZ99999.{BUNDLE}"
    expect("re-signed", service.ask(device, purchase), 403, "genuine-app-refused")


def run(binary, place, store):
    authority = Authority()
    roots = place / "roots.pem"
    roots.write_bytes(pathlib.Path(store.roots).read_bytes() + authority.root_pem())
    purchase = store.purchase(ACCOUNT)
    with Service(binary, place, roots) as service:
        genuine = registrations(service, authority)
        assertions(service, authority, genuine, purchase)
        origins(service, authority, purchase)
        service.stop()
        service.start()
        expect("after a restart, an old counter", service.ask(genuine, purchase, counter=1000), 403, "genuine-app-refused")
        expect("after a restart, a new one", service.ask(genuine, purchase, counter=1001), 200)


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        store = FakeAppStore(ROOT)
        try:
            run(binary, pathlib.Path(folder), store)
        finally:
            store.stop()
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"app-attest: {checks} checks, {len(failures)} failed")
    sys.exit(1 if failures else 0)


main()
