# SPDX-License-Identifier: Apache-2.0
"""Lets an app ask a service with its users' tokens, of OpenID providers that Authlib makes.

Usage: PYTHON -B Tests/IdentityProvider BINARY

Providers and service run on 127.0.0.1 with certificates made meanwhile. Scripts/identity-provider has the libraries.
"""
import pathlib
import sys
import tempfile
import time
import uuid

import console
from app import Caller, ProofKey, logged_in
from place import BUNDLE, Authority, FakeAppStore, Service, free_ports
from provider import Provider

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAMESPACE = "0f6a2c4e-7b1d-4a58-9c3e-5d2b8f7a1c60"
failures, checks = [], 0


def expect(what, answer, status, phrase="", **members):
    """Compares the answer's status, a phrase of its header and body, and members of its JSON."""
    global checks
    checks += 1
    text = str(dict(answer.headers)) + answer.text
    wrong = answer.status_code != status or phrase not in text
    if wrong or any(answer.json().get(name) != value for name, value in members.items()):
        failures.append(f"{what}: {answer.status_code} instead of {status} {phrase} {members}: {text}")


def expect_that(what, holds, found=""):
    global checks
    checks += 1
    if not holds:
        failures.append(f"{what}: {found}")


def explained(service, what, token, code, phrase):
    global checks
    checks += 1
    exit_code, text = service.explain(token)
    if exit_code != code or phrase not in text or token[-40:] in text:
        failures.append(f"explain, {what}: {exit_code} instead of {code} {phrase}: {text}")


def account(customer):
    """What the service is to derive, computed by another library."""
    return str(uuid.uuid5(uuid.UUID(NAMESPACE), customer))


def users(service, caller, login, store, authority):
    """Users of a provider get their own offers, and nothing else."""
    tokens = logged_in(login, authority)
    token, purchase = tokens["access_token"], store.purchase(account("anna"))
    expect("no purchases known", caller.ask(token), 403, "eligibility-undecided")
    expect("own offer", caller.ask(token, signedTransactions=[purchase]), 200, appAccountToken=account("anna"))
    expect("own name", caller.ask(token, customerId="anna", appAccountToken=account("anna")), 200)
    explained(service, "good", token, 0, "accepted: customerId anna")
    expect("another customer", caller.ask(token, customerId="bella"), 403, "assertion-not-allowed")
    expect("another account", caller.ask(token, appAccountToken=account("bella")), 403, "assertion-not-allowed")
    expect("another's purchase", caller.ask(token, signedTransactions=[store.purchase(account("bella"))]), 403,
           "signed-data-of-other-account")
    expect("another bundle", caller.ask(token, bundleId="com.example.other"), 403, "not-allowed")
    expect("facts of its own", caller.ask(token, facts={"status": "expired"}), 403, "assertion-not-allowed")
    expect("records", caller.ask(token, url=caller.url.split("/v1")[0] + "/v1/audit/entries", method="GET"), 401)
    bella = logged_in(login, authority, user="bella")["access_token"]
    expect("the other user", caller.ask(bella), 403, "eligibility-undecided")
    refused(service, caller, login, authority, tokens)
    return token


def refused(service, caller, login, authority, tokens):
    """Tokens that have one thing wrong; the app never learns which."""
    hasty = logged_in(login, authority, client="hasty-app")["access_token"]
    expect("before expiry", caller.ask(hasty), 200)
    rows = [("an ID token", tokens["id_token"], "other-type"),
            ("another audience", logged_in(login, authority, client="other-app")["access_token"], "other-audience")]
    header, payload, signature = tokens["access_token"].split(".")
    rows.append(("another signature", f"{header}.{payload}.{signature[:-8]}AAAAAAAA", "signature-wrong"))
    other = logged_in(login, authority, user="bella")["access_token"].split(".")
    rows.append(("another's claims", f"{header}.{other[1]}.{signature}", "signature-wrong"))
    time.sleep(2.5)
    rows.append(("after expiry", hasty, "expired"))
    for what, token, reason in rows:
        expect(what, caller.ask(token), 401, 'error="invalid_token"')
        explained(service, what, token, 1, reason)
        if reason in caller.ask(token).text:
            failures.append(f"{what}: the app learns the reason")
    narrow = logged_in(login, authority, scope="openid")["access_token"]
    expect("without the scope", caller.ask(narrow), 403, 'error="insufficient_scope"')


def proofs(caller, bound, authority):
    """A token that is bound to a key is good with that key alone, and each proof once."""
    mine, other = ProofKey(), ProofKey()
    token = logged_in(bound, authority, key=mine)["access_token"]
    unbound = logged_in(bound, authority)["access_token"]
    good = mine.proof("POST", caller.url, token)
    dpop = f"DPoP {token}"
    expect("proof", caller.ask(dpop, good), 200)
    expect("replay", caller.ask(dpop, good), 401, 'error="invalid_dpop_proof"')
    expect("as bearer", caller.ask(token), 401, "invalid_token")
    expect("as bearer with proof", caller.ask(token, mine.proof("POST", caller.url, token)), 401, "invalid_token")
    expect("no proof", caller.ask(dpop), 401, "invalid_dpop_proof")
    expect("unbound token", caller.ask(f"DPoP {unbound}", mine.proof("POST", caller.url, unbound)), 401)
    expect("unbound bearer", caller.ask(unbound), 401)
    wrong = [
        ("another key", other.proof("POST", caller.url, token)), ("another method", mine.proof("GET", caller.url, token)),
        ("another path", mine.proof("POST", caller.url + "/batch", token)),
        ("another origin", mine.proof("POST", caller.url.replace("127.0.0.1", "offers.example.com"), token)),
        ("another token", mine.proof("POST", caller.url, unbound)), ("no token", mine.proof("POST", caller.url)),
        ("two proofs", [mine.proof("POST", caller.url, token), mine.proof("POST", caller.url, token)]),
        ("not signed", good.rsplit(".", 1)[0] + "." + "A" * 86),
    ]
    for what, proof in wrong:
        expect(what, caller.ask(dpop, proof), 401, "invalid_dpop_proof")
    late = caller.ask(dpop, mine.proof("POST", caller.url, token, iat=int(time.time()) - 3600))
    expect("a wrong clock", late, 401, 'error="use_dpop_nonce"')
    nonce = late.headers["dpop-nonce"]
    with_nonce = mine.proof("POST", caller.url, token, iat=int(time.time()) - 3600, nonce=nonce)
    expect("with the nonce", caller.ask(dpop, with_nonce), 200)
    expect("replay with the nonce", caller.ask(dpop, with_nonce), 401, "invalid_dpop_proof")
    return dpop, mine, nonce


def after_restart(service, bound_user):
    """What was used before a restart is forgotten, so it must not count again."""
    dpop, key, nonce = bound_user
    caller, token = Caller(service.port), dpop.split()[1]
    before = key.proof("POST", caller.url, token)
    nonced = key.proof("POST", caller.url, token, nonce=nonce)
    expect("proof before the restart", caller.ask(dpop, before), 200)
    expect("nonce before the restart", caller.ask(dpop, nonced), 200)
    time.sleep(2)
    service.stop()
    service.start(port=service.port)
    expect("replay after the restart", caller.ask(dpop, before), 401, 'error="use_dpop_nonce"')
    expect("nonce after the restart", caller.ask(dpop, nonced), 401, 'error="use_dpop_nonce"')
    expect("new proof after the restart", caller.ask(dpop, key.proof("POST", caller.url, token)), 200)


def rotation(caller, login, authority, old):
    """A new key is followed at once, while the one before it stays."""
    login.rotate(keep=True)
    reads = login.reads
    new = logged_in(login, authority)["access_token"]
    expect("a new key", caller.ask(new), 200)
    expect("the key before it", caller.ask(old), 200)
    if login.reads != reads + 1:
        failures.append(f"rotation: the keys were read {login.reads - reads} times, and not once")
    login.stop()
    expect("the provider is down, its keys are known", caller.ask(new), 200)
    login.start()


def withdrawal(caller, provider, authority):
    """The same where tokens name no key, and where the old key is withdrawn with the change."""
    old = logged_in(provider, authority)["access_token"]
    expect("before the withdrawal", caller.ask(old), 200)
    provider.rotate(keep=False)
    expect("a new key alone", caller.ask(logged_in(provider, authority)["access_token"]), 200)
    expect("a withdrawn key", caller.ask(old), 401, "invalid_token")


def outage(service, caller, late, strange, login_token, authority):
    """A provider that can't be read stops its own users alone."""
    late.start()
    token = logged_in(late, authority)["access_token"]
    late.stop()
    service.stop()
    service.start(port=service.port)
    for what, asked in (("down", token), ("not trusted", logged_in(strange, strange.authority)["access_token"])):
        answer = caller.ask(asked)
        expect(f"{what}: its users", answer, 503, "identity-provider-unavailable")
        if not 1 <= int(answer.headers.get("retry-after", 0)) <= 60:
            failures.append(f"{what}: Retry-After is {answer.headers.get('retry-after')}")
    explained(service, "down", token, 3, "not known")
    expect("down: an API key", caller.ask(service.api_key, facts={"status": "expired"}), 200)
    expect("down: others' users", caller.ask(login_token), 200)
    late.start()
    for _ in range(40):
        answer = caller.ask(token)
        if answer.status_code != 503:
            break
        time.sleep(0.5)
    expect("up again: its users", answer, 200)


def entry(provider, name, **members):
    return {"issuer": provider.issuer, "name": name, "audience": "offer-signer", "bundleIds": [BUNDLE], "clockSkew": 0,
            "requiredScope": "offers:sign", "appAccountToken": {"derive": "uuidv5", "namespace": NAMESPACE}, **members}


def run(binary, place, store):
    authority, stranger = Authority(place, "authority"), Authority(place, "stranger")
    ports, certificate = free_ports(5), authority.certify("login")
    login, bound, late = (Provider(certificate, algorithm, port) for algorithm, port in zip(("RS256", "ES256", "ES256"), ports))
    strange = Provider(stranger.certify("strange"), "ES256", ports[3])
    strange.authority = stranger.path
    brief = Provider(certificate, "ES256", ports[4], names_keys=False)
    entries = [entry(login, "login"), entry(bound, "bound", dpop="required"), entry(late, "late"), entry(strange, "strange"),
               entry(brief, "brief")]
    for provider in (login, bound, strange, brief):
        provider.start()
    with Service(binary, place, store, authority.path, entries) as service:
        caller = Caller(service.port)
        token = users(service, caller, login, store, authority.path)
        withdrawal(caller, brief, authority.path)
        rotation(caller, login, authority.path, token)
        after_restart(service, proofs(caller, bound, authority.path))
        outage(service, caller, late, strange, token, authority.path)
    for provider in (login, bound, late, strange, brief):
        provider.stop()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        store = FakeAppStore(ROOT)
        try:
            run(sys.argv[1], pathlib.Path(folder), store)
            console.run(sys.argv[1], pathlib.Path(folder) / "console", store, expect_that)
        finally:
            store.stop()
    for failure in failures:
        print(failure[:1500])
    print(f"identity provider: {checks} checks, {len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
