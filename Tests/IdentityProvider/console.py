# SPDX-License-Identifier: Apache-2.0
"""A person signs in to the console in a real browser, by a provider that Authlib makes, and out again."""
import os
import pathlib
import subprocess
import sys

import httpx2

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "EndToEndTests/Checkers/Console"))

from place import Service, free_ports
from provider import PASSWORDS, SECRETS, Provider
from webdriver import Browser, wait_for

SCRIPT = "return fetch(arguments[0], arguments[1]).then((answer) => answer.status, () => 0)"


class ConsoleService(Service):
    """On a port that its own settings name."""

    def __init__(self, binary, place, store, entry, port):
        super().__init__(binary, place, store, store.roots, [entry])
        self.fixed = port

    def start(self, port=0):
        (self.place / "demo/console.secret").write_text(SECRETS["console"] + "\n")
        os.chmod(self.place / "demo/console.secret", 0o600)
        super().start(self.fixed)


class Person:
    def __init__(self, browser, url, provider):
        self.browser, self.url, self.provider = browser, url, provider

    def log_in(self, name):
        """Goes from the console to the provider, and logs in there."""
        self.browser.find("button.provider", "Sign in with Example SSO").click()
        self.browser.find("input[name=username]").type(name)
        self.browser.find("input[name=password]").type(PASSWORDS[name])
        self.browser.find("button", "Log in").click()

    def fetch(self, path, **options):
        return self.browser.run(SCRIPT, f"{self.url}{path}", {"credentials": "include", **options})


def signs_in(person, expect):
    browser = person.browser
    browser.open(f"{person.url}/console/#/entries")
    expect("the API key is another way", browser.find("#api-key"))
    person.log_in("anna")
    browser.find("#sign-out")
    browser.settle()
    expect("back at the view", browser.url == f"{person.url}/console/#/entries", browser.url)
    who = browser.text("#session")
    expect("the pseudonym and role", "console:login:" in who and "(auditor)" in who and "anna" not in who, who)
    expect("entries are shown", "session.begin" in browser.text("main") or "Signed in" in browser.text("main"),
           browser.text("main")[:500])
    expect("no script reads the cookie", browser.run("return document.cookie") == "")
    browser.open("about:blank")
    browser.open(f"{person.url}/console/")
    expect("it lasts", "console:login:" in browser.find("#session").text)
    browser.settle()
    expect("no notice", not browser.all(".notice.bad"), browser.text("main")[:500])


def is_not_lent(person, expect, admin):
    """Another site's page, here the provider's, makes no use of the session."""
    body = '{"reason": "another site"}'
    mark = {"Offer-Signer-Console": "1"}
    expect("without the header", person.fetch("/v1/keys") == 403)
    expect("with it", person.fetch("/v1/keys", headers=mark) == 200)
    expect("a role that may not", person.fetch("/v1/seal", method="POST", body=body, headers=mark
                                               | {"Content-Type": "application/json"}) == 403)
    person.browser.open(f"{person.provider.issuer}/logout?post_logout_redirect_uri=x")
    for options in ({"method": "POST", "body": body, "mode": "no-cors"}, {"method": "POST", "body": body, "headers": mark},
                    {"headers": mark}, {"mode": "no-cors"}):
        status = person.fetch("/console/sign-out" if options.get("method") else "/v1/keys", **options)
        expect(f"from another origin: {options}", status == 0, status)
    person.browser.open(f"{person.url}/console/")
    expect("the session goes on", "console:login:" in person.browser.find("#session").text)
    sealed = httpx2.get(f"{person.url}/v1/seal", headers={"Authorization": f"Bearer {admin}"}).json()
    expect("nothing is sealed", sealed["isSealed"] is False, sealed)


def signs_out(person, expect):
    browser = person.browser
    browser.find("#sign-out").click()
    browser.find(".notice.good", "You are signed out of the console")
    expect("at once", person.fetch("/v1/keys", headers={"Offer-Signer-Console": "1"}) == 401)
    browser.find("#sign-out-there").click()
    wait_for("the provider", lambda: browser.text("h1") == "Signed out")
    expect("the way back", f"{person.url}/console/" in browser.text(), browser.text())
    browser.open(f"{person.url}/console/")
    expect("signed out", browser.find("button.provider"))


def is_refused(person, expect):
    person.log_in("bella")
    browser = person.browser
    browser.find("h1", "Your account may not use the console")
    expect("what is missing", "The claim groups" in browser.text(), browser.text())
    browser.find("a", "Back to the console").click()
    expect("the way back", browser.find("button.provider"))


def run(binary, place, store, expect):
    place.mkdir()
    ports = free_ports(2)
    url = f"http://127.0.0.1:{ports[1]}"
    redirect = f"{url}/console/signed-in"
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    provider = Provider(None, "RS256", ports[0], redirect=redirect).start()
    entry = {"issuer": provider.issuer, "name": "login", "consoleSignIn": {
        "title": "Example SSO", "clientId": "console", "clientSecretFile": "console.secret", "redirectUri": redirect,
        "roleClaim": "groups", "roles": {"auditors": "auditor", "oncall": "admin"}}}
    browser = Browser()
    try:
        with ConsoleService(binary, place, store, entry, ports[1]) as service:
            database = f"sqlite:{place}/demo/offer-signer.db"
            added = subprocess.run([binary, "callers", "add", "admin", "--role", "admin", "--database", database],
                                   capture_output=True, text=True, check=True)
            person = Person(browser, url, provider)
            signs_in(person, expect)
            is_not_lent(person, expect, added.stdout.split()[-1])
            signs_out(person, expect)
            is_refused(person, expect)
            expect("the log", "a person signed in to the console" in service.log.read_text())
            expect("no name in the log", "anna" not in service.log.read_text())
    finally:
        browser.close()
        provider.stop()
