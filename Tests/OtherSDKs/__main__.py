# SPDX-License-Identifier: Apache-2.0
"""Runs nginx with the configuration of docs/other-sdks.md between SDKs' calls, the service, and a vendor's server.

Usage: python3 -B Tests/OtherSDKs BINARY

The calls for signatures have to reach the service, and everything else the vendor, byte for byte. nginx is Debian's; if it is
not installed, its package is unpacked into .build/debian, so that no server is started.
"""
import base64
import json
import pathlib
import subprocess
import sys
import tempfile

from nginx import Nginx
from place import Service
from vendor import Vendor, ask

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOKEN = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
SDK_KEY = "appl_AbCdEfGhIjKlMnOpQrStUvWxYz"
PRODUCT, OFFER, BUNDLE = "com.example.pro.yearly", "yearly_upgrade", "com.example.app"
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def headers(storekit="2", **more):
    """What RevenueCat's SDK sends, as in its own golden requests."""
    return {
        "Authorization": f"Bearer {SDK_KEY}", "Content-Type": "application/json", "X-Client-Bundle-ID": BUNDLE,
        "X-Is-Sandbox": "false", "X-StoreKit-Version": storekit, "X-Observer-Mode-Enabled": "true", "X-Platform": "iOS",
        "X-Platform-Flavor": "native", "X-Storefront": "USA", "X-Version": "5.86.0", "X-Retry-Count": "0", **more,
    }


def offers_body(user, fetch_token):
    return json.dumps({"app_user_id": user, "fetch_token": fetch_token, "generate_offers": [
        {"offer_id": OFFER, "product_id": PRODUCT, "subscription_group": "21234567"}]}).encode()


def verify(public_key, place, signature, fields):
    """Whether Apple's rule finds the signature right: DER over the fields with U+2063 in between."""
    (place / "payload").write_bytes("\u2063".join(fields).encode())
    (place / "signature").write_bytes(base64.b64decode(signature, validate=True))
    done = subprocess.run(["openssl", "dgst", "-sha256", "-verify", public_key, "-signature", place / "signature",
                           place / "payload"], capture_output=True, check=False)
    return done.returncode == 0


def revenuecat(port, service, vendor, place):
    """The golden request, and one with evidence for each form of a user."""
    golden = {"app_user_id": "user", "fetch_token": "YW4gYXdlc29tZSBkaXNjb3VudA==", "generate_offers": [
        {"offer_id": OFFER, "product_id": PRODUCT, "subscription_group": "sub_group"}]}
    answer = ask(port, "POST", "/v1/offers", headers("1"), json.dumps(golden).encode())
    offer = answer.json["offers"][0]
    expect(answer.status == 200 and offer["signature_data"] is None and offer["signature_error"]["code"] == 7232,
           f"golden request: {answer}")
    rows = [(TOKEN.upper(), "2", service.signed, TOKEN), (TOKEN, "1", service.signed, TOKEN),
            ("$RCAnonymousID:4f2a", "2", service.signed_without_token, "")]
    for user, storekit, token, signed in rows:
        answer = ask(port, "POST", "/v1/offers", headers(storekit), offers_body(user, token))
        offer = answer.json["offers"][0]
        data = offer["signature_data"]
        expect(answer.status == 200 and data and offer["signature_error"] is None, f"{user}: {answer}")
        if data:
            fields = [BUNDLE, offer["key_id"], PRODUCT, OFFER, signed, data["nonce"].lower(), str(data["timestamp"])]
            expect(verify(service.public_key, place, data["signature"], fields), f"{user}: {answer}")
        expect("etag" not in answer.fields and "x-revenuecat-etag" not in answer.fields, f"{answer}")
    stranger = ask(port, "POST", "/v1/offers", headers(Authorization="Bearer appl_unknown1"), offers_body(TOKEN, None))
    expect(stranger.status == 401 and stranger.json["code"] == 7225, f"{stranger}")
    expect(not vendor.requests, "a call for a signature reached the vendor")


# What the SDK calls besides, and what a proxy is apt to change.
OTHERS = [
    ("GET", "/v1/subscribers/%24RCAnonymousID%3A4f2a", b""),
    ("GET", "/v1/subscribers/anna%2Fb%20c/offerings?x=1&y=%26", b""),
    ("GET", "/v1/product_entitlement_mapping", b""),
    ("POST", "/v1/config/app", bytes(range(256)) * 8),
    ("POST", "/v1/receipts", b'{"fetch_token": "' + b"A" * 300_000 + b'"}'),
    ("POST", "/v1/subscribers/identify", b'{"app_user_id": "anna"}'),
    ("POST", "/v1/subscribers/anna/intro_eligibility", b"{}"),
    ("POST", "/v1/events", b'{"events": []}'),
    ("POST", "/auth/token", b"grant_type=refresh"),
    ("POST", "/v1/offers/", b"{}"),
    ("POST", "/v1/offers/more", b"{}"),
    ("DELETE", "/rcbilling/v1/x", b""),
]


def everything_else(port, vendor, paths, name):
    """Request and answer are the same on both sides, but for Host and Connection."""
    for method, target, body in paths:
        sent = headers(**{"X-Nonce": "AAECAwQFBgcICQoL", "X-Post-Params-Hash": "a:sha256:00", "Accept-Encoding": "gzip",
                          "with_underscore": "kept", "User-Agent": "SDK/1"})
        answer = ask(port, method, target, sent, body)
        seen = vendor.requests.pop() if vendor.requests else None
        expect(seen is not None, f"{name}: {method} {target} did not reach the vendor: {answer}")
        if seen is None:
            continue
        expect((seen.method, seen.target, seen.body) == (method, target, body), f"{name}: {method} {target} was changed")
        wanted = {key.lower(): value for key, value in sent.items()}
        came = {key.lower(): value for key, value in seen.headers.items()}
        for key in ("host", "connection", "content-length"):
            came.pop(key, None)
        expect(came == wanted, f"{name}: {target}: headers {came} instead of {wanted}")
        expect((answer.status, answer.body) == (vendor.STATUS, vendor.BODY), f"{name}: {target}: {answer}")
        for key, value in vendor.FIELDS.items():
            expect(answer.fields.get(key.lower()) == value, f"{name}: {target}: {key} is {answer.fields.get(key.lower())}")


def qonversion(port, service, vendor):
    """The app's key gets 422, in the SDK's form; a customer that the App Store has reported is granted the offer to a backend."""
    asked = {"product": PRODUCT, "app_account_token": TOKEN, "app_bundle_id": BUNDLE}
    body, unknown = json.dumps(asked).encode(), json.dumps({**asked, "app_account_token": "nobody-yet"}).encode()
    path = f"/v3/users/QON_0a1b/offers/{OFFER}/signatures"
    answer = ask(port, "POST", path, headers(), body)
    expect(answer.status == 422 and answer.json["error"]["message"], f"Qonversion: {answer}")
    answer = ask(port, "POST", path, headers(Authorization=f"Bearer {service.backend}"), unknown)
    expect(answer.status == 422 and "message" in answer.json.get("error", {}), f"Qonversion, unknown customer: {answer}")
    service.report(service.transaction_id)
    answer = ask(port, "POST", path, headers(Authorization=f"Bearer {service.backend}"), body)
    expect(answer.status == 200 and answer.json["key_identifier"] and answer.json["timestamp"] > 0, f"Qonversion: {answer}")
    expect(not vendor.requests, "a call for a signature reached the vendor")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    page = (ROOT / "docs/other-sdks.md").read_text()
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        with Service(ROOT, sys.argv[1], place, SDK_KEY, TOKEN, BUNDLE) as service, Vendor() as vendor, \
                Nginx(ROOT, place, page, service.port, vendor.port) as nginx:
            rc, qon = nginx.ports["rc.example.com"], nginx.ports["qonversion.example.com"]
            revenuecat(rc, service, vendor, place)
            everything_else(rc, vendor, OTHERS, "RevenueCat")
            qonversion(qon, service, vendor)
            everything_else(qon, vendor, [
                ("POST", "/v1/user/init", b"{}"), ("GET", "/v3/users/QON_0a1b/entitlements", b""),
                ("POST", "/v2/events", bytes(range(256))), ("POST", f"/v3/users/a/b/offers/{OFFER}/signatures", b"{}"),
                ("POST", "/attribution", b"{}"), ("POST", "/v4/web/x", b"{}"),
            ], "Qonversion")
    for failure in failures:
        print(failure[:1500])
    print(f"other SDKs: {len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
