# SPDX-License-Identifier: Apache-2.0
"""Uses the console as people do, in a real browser, and says what is not as it should be.

Usage: console.py SETTINGS SCENARIO…
SETTINGS is a file in JSON: where the service is, API keys, and what its log holds (see ConsolePlace.swift). Scenarios
run one after the other in one browser. After each, the browser must not have complained of anything that the scenario
does not expect, and must have sent requests to the service only.
"""
import base64
import datetime
import json
import os
import re
import sys
import time
import traceback
import urllib.request
import uuid

from accessibility import problems_of
from tampering_proxy import TamperingProxy
from webdriver import Browser, Failure, wait_for

SCENARIOS = {}
# Those in docs/console.md.
PICTURES = {"console-overview-1280-light", "console-tuesday-1280-light", "console-entry-390-dark",
            "console-tampered-1280-light", "console-sealed-1280-light"}
TAB, ENTER, ESCAPE, LEFT, SHIFT = "\ue004", "\ue007", "\ue00c", "\ue012", "\ue008"


def scenario(function):
    SCENARIOS[function.__name__.replace("_", "-")] = function
    return function


def expect(condition, what):
    if not condition:
        raise Failure(what)


class Walk:
    """A browser at the console of a service."""

    def __init__(self, settings):
        self.settings = settings
        self.browser = Browser()
        self.url = settings["url"]
        self.forget()

    def forget(self):
        """Takes no notice of what happened behind the page until now."""
        self.expected_complaints = []
        self.browser.complaints()
        self.browser.requests()

    def open(self, route="", width=1280, dark=False):
        self.browser.show(width, dark=dark)
        # Another document, so that nothing is left of what was in memory.
        self.browser.open("about:blank")
        self.browser.open(f"{self.url}/console/#/{route}")

    def sign_in(self, who="auditor", route="", **window):
        self.open(route, **window)
        self.browser.find("#api-key").type(self.settings["apiKeys"][who])
        self.browser.find("button.main").click()
        self.browser.find("#sign-out")
        self.browser.settle()

    def follow(self, action):
        """Does what leads to another view, and waits until that is there."""
        self.browser.run("document.querySelector('h1').dataset.left = ''")
        action()
        wait_for("another view", lambda: self.browser.run("return !document.querySelector('h1[data-left]')"))
        self.browser.settle()

    def go(self, route):
        """Goes to a view in the page that is open, as a link does."""
        self.follow(lambda: self.browser.run("location.hash = arguments[0]", f"#/{route}"))

    def accept(self):
        """Looks at the page as it is."""
        problems = problems_of(self.browser)
        expect(not problems, f"{self.browser.url}: {problems[:8]}")

    def picture(self, name, height=None):
        folder = self.settings.get("screenshots")
        if not folder or name not in PICTURES:
            return
        size = self.browser.run("return [innerWidth, document.documentElement.scrollHeight]")
        dark = self.browser.run("return matchMedia('(prefers-color-scheme: dark)').matches")
        self.browser.run("document.activeElement.blur()")
        self.browser.show(size[0], height=min(height or 4000, size[1]), dark=dark)
        self.browser.screenshot(os.path.join(folder, f"{name}.png"))
        self.browser.show(size[0], dark=dark)

    def end_scenario(self):
        """What happened behind the page during a scenario."""
        complaints = [text for text in self.browser.complaints()
                      if not any(re.search(expected, text) for expected in self.expected_complaints)]
        self.expected_complaints = []
        expect(not complaints, f"the browser complained: {complaints[:5]}")
        requests = self.browser.requests()
        elsewhere = [url for url in requests
                     if not url.startswith((self.url + "/", "about:", "chrome:", "data:", f"blob:{self.url}"))]
        expect(not elsewhere, f"asked elsewhere: {elsewhere}")
        for url in requests:
            for key in self.settings["apiKeys"].values():
                expect(key not in url, f"an API key is part of an address: {url}")


# Signing in and out


@scenario
def sign_in(walk):
    """The key is in memory, or kept for the tab if asked, and signing out forgets it."""
    browser, key = walk.browser, walk.settings["apiKeys"]["auditor"]
    storage = "return JSON.stringify({...localStorage}) + JSON.stringify({...sessionStorage}) + document.cookie"
    for width, dark in ((1280, False), (390, True)):
        walk.open(width=width, dark=dark)
        browser.find("#api-key")
        walk.accept()
    walk.sign_in()
    expect(key not in browser.run(storage), "the key was kept without being asked")
    expect(key not in browser.url, "the key is in the address")
    expect("auditor" in browser.text("#session"), "who is signed in is not shown")
    browser.command("POST", "/refresh", {})
    browser.find("#api-key").type(key)
    browser.find("#keep").click()
    browser.find("button.main").click()
    browser.find("#sign-out")
    browser.command("POST", "/refresh", {})
    browser.find("#sign-out").click()
    browser.find("#api-key")
    expect(key not in browser.run(storage), "signing out left the key behind")
    expect(key not in browser.run("return document.documentElement.outerHTML"), "the key is still in the page")
    expect(browser.find("#api-key").label == "API key", "the field is not named")


@scenario
def wrong_keys(walk):
    """What is wrong with a key is said, and what to do about it."""
    browser = walk.browser
    walk.expected_complaints = [r"status of 401"]
    for key, title, advice in (
        ("0123456789abcdef." + "A" * 43, "The API key is not accepted", "callers add"),
        ("schlüssel", "This is not an API key", ""),
        (walk.settings["apiKeys"]["backend"], "This API key may not read the log", "auditor or admin"),
    ):
        walk.open()
        browser.find("#api-key").type(key)
        browser.find("button.main").click()
        notice = browser.find(".notice.bad", title)
        expect(advice in notice.text, f"{title}: no advice in {notice.text}")
        expect(notice.attribute("role") == "alert", "screen readers do not announce it")
        walk.accept()


# Reading


@scenario
def overview(walk):
    """Every part of the overview is there, in both widths and both themes, and the chart can be read."""
    browser = walk.browser
    for width, dark in ((1280, False), (1280, True), (390, False), (390, True)):
        walk.sign_in(width=width, dark=dark)
        for title in ("Use of keys", "Keys", "Decisions by rule", "Top refusals", "Log", "Reconciliation", "Retention"):
            browser.find("section h2", title)
        expect(not browser.all(".notice.bad"), f"something can't be shown: {browser.text('.notice.bad')}")
        walk.accept()
        check_chart(walk)
        walk.picture(f"console-overview-{width}-{'dark' if dark else 'light'}")


def check_chart(walk):
    """Bars, axis and names say the same as the table below them, in letters that can be read."""
    browser, settings = walk.browser, walk.settings
    browser.find(".chart details summary").click()
    found = browser.run("""
        const rows = [...document.querySelectorAll(".chart tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
        const keys = [...document.querySelectorAll(".chart thead th")].slice(1).map((cell) => cell.textContent);
        const charts = [...document.querySelectorAll("svg.usage")].map((chart) => ({
            label: chart.getAttribute("aria-label"),
            bars: [...chart.querySelectorAll("a")].map((bar) => bar.getAttribute("aria-label")),
            heights: [...chart.querySelectorAll("a")].map((bar) => bar.querySelector(".bar").getBoundingClientRect().height),
            texts: [...chart.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]),
        }));
        return { rows, keys, charts, caption: document.querySelector("figcaption").textContent };
    """)
    browser.find(".chart details summary").click()
    expect("Uses per day (UTC)" in found["caption"], "the unit is not named")
    expect(found["keys"] and len(found["keys"]) == len(found["charts"]), "a row of the chart for each key")
    scale = None
    for place, (key, chart) in enumerate(zip(found["keys"], found["charts"])):
        expect(chart["label"] == f"Uses of key {key}", "the row does not name its key")
        counts = [int(row[place + 1]) for row in found["rows"]]
        listed = [int(re.search(r": (\d+) uses?$", bar).group(1)) for bar in chart["bars"]]
        expect(counts == listed and any(counts), f"table and chart differ: {counts} and {listed}")
        scale = scale or max(chart["heights"]) / max(counts)
        fits = all(abs(height - count * scale) <= 2 for height, count in zip(chart["heights"], counts))
        expect(scale > 0 and fits, f"bars of {chart['heights']} for {counts}")
        texts = [(text, box) for text, box in chart["texts"] if text]
        for text, box in texts:
            expect(box["height"] >= 11, f"“{text}” is too small to be read")
        for one in range(len(texts)):
            for other in range(one):
                (text, a), (beside, b) = texts[one], texts[other]
                apart = (a["left"] >= b["right"] or b["left"] >= a["right"] or a["top"] >= b["bottom"] - 3
                         or b["top"] >= a["bottom"] - 3)
                expect(apart, f"“{text}” lies over “{beside}”")
    known = settings.get("uses", {})
    for day, count in known.items():
        row = next((row for row in found["rows"] if row[0].endswith(day)), None)
        place = found["keys"].index(settings["key"]) + 1
        expect(row and int(row[place]) == count, f"{day} has {count} uses, and the chart says {row}")


@scenario
def three_clicks(walk):
    """Who used a key last Tuesday: from the overview, in three clicks; and from its bar, in one."""
    browser, settings = walk.browser, walk.settings
    for width, dark in ((1280, False), (390, True)):
        walk.sign_in(width=width, dark=dark)
        clicks = 0
        for selector, text in ((".key-link", settings["key"]), (".choices a", settings["tuesday"])):
            walk.follow(browser.find(selector, text).click)
            clicks += 1
            browser.find("h1", f"Entries of key {settings['key']}")
        check_callers(walk)
        walk.accept()
        walk.picture(f"console-tuesday-{width}-{'dark' if dark else 'light'}", height=1000)
        busiest = max(settings["callers"], key=settings["callers"].get)
        walk.follow(browser.find("#groups ~ .panel-body th a", busiest).click)
        clicks += 1
        browser.find(".conditions li", f"Caller: {busiest}")
        rows = browser.all("table.entries tbody tr")
        expect(len(rows) == settings["callers"][busiest], f"{len(rows)} entries of {busiest}")
        expect(clicks <= 3, f"{clicks} clicks")
        walk.follow(browser.back)
        browser.find("h2", "By caller")
    walk.sign_in()
    bar = browser.run("""
        return [...document.querySelectorAll("svg.usage a")].find((bar) =>
            bar.getAttribute("aria-label").startsWith(arguments[0]));
    """, f"{settings['key']}, {settings['tuesday']}: ")
    expect(bar, f"no bar for {settings['tuesday']}")
    walk.follow(lambda: browser.run("location.hash = arguments[0].getAttribute('href')", bar))
    check_callers(walk)


def check_callers(walk):
    found = walk.browser.run("""
        return [...document.querySelectorAll("#groups ~ .panel-body tbody tr")].map((row) =>
            [row.cells[0].textContent, Number(row.cells[1].textContent)]);
    """)
    named = {name: count for name, count in found if name != "the service itself"}
    expect(named == walk.settings["callers"], f"callers {found}, not {walk.settings['callers']}")


def check_days(walk):
    """The days to choose from are today and the seven before, by their right names."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    days = [today - datetime.timedelta(days=back) for back in range(8)]
    names = ["today", "yesterday"] + [day.strftime("last %A") for day in days[2:]]
    expected = [[f"{day:%a} {day.day} {day:%b}{name}", day.isoformat()] for day, name in zip(days, names)]
    found = walk.browser.run("""
        return [...document.querySelectorAll(".choices a")].slice(0, 8).map((link) =>
            [link.textContent, new URLSearchParams(link.hash.split("?")[1]).get("from").slice(0, 10)]);
    """)
    expect(found == expected, f"{found} instead of {expected}")


@scenario
def search(walk):
    """By nonce, with a page that can be linked, an empty result that helps, pages, and files to take away."""
    browser, settings = walk.browser, walk.settings
    walk.sign_in(route="entries")
    walk.accept()
    check_days(walk)
    browser.find("#condition-nonce").type(settings["nonce"])
    walk.follow(browser.find("form.search button.main").click)
    browser.find(".conditions li", f"Nonce: {settings['nonce']}")
    links = browser.all("table.entries tbody a")
    expect(len(links) == 1, f"{len(links)} entries have the nonce")
    expect(links[0].text == f"#{settings['index']}", f"{links[0].text} has the nonce")
    expect("1 entries shown" in browser.run("return document.getElementById('status').textContent"), "nothing announced")
    address = browser.url
    walk.follow(browser.find(".conditions a").click)
    expect(len(browser.all("table.entries tbody tr")) > 1, "the condition still holds")
    walk.follow(browser.back)
    expect(browser.url == address and len(browser.all("table.entries tbody tr")) == 1, "back does not lead back")
    walk.go("entries?nonce=00000000-0000-4000-8000-000000000000")
    browser.find(".panel-body p", "No entry meets these conditions")
    walk.accept()
    walk.go(f"entries?key={settings['key']}&from={settings['from']}&until={settings['until']}&order=oldest")
    times = browser.run("return [...document.querySelectorAll('table.entries tbody tr')].map((row) => row.cells[1].textContent)")
    expect(len(times) > 2 and times == sorted(times), "not the oldest first")
    for form in ("CSV", "NDJSON"):
        browser.find("button", f"Download {form}").click()
        path = os.path.join(browser.downloads, f"entries.{form.lower()}")
        wait_for(f"{form} arrives", lambda: os.path.exists(path) and os.path.getsize(path) > 20)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        expect(len(lines) == len(times) + (form == "CSV"), f"{len(lines)} lines of {form} for {len(times)} entries")


@scenario
def entry(walk):
    """One entry in full; its proof is verified by the browser, and the key can be pinned."""
    browser, settings = walk.browser, walk.settings
    for width, dark in ((1280, False), (390, True)):
        walk.sign_in(route=f"entries/{settings['index']}", width=width, dark=dark)
        browser.find("#proof .notice.good", "Verified in this browser")
        expect(browser.text("#proof .steps").count("✓") == 3, f"steps: {browser.text('#proof .steps')}")
        expect(settings["nonce"] in browser.text(".facts"), "the entry's nonce is not shown")
        walk.accept()
        walk.picture(f"console-entry-{width}-{'dark' if dark else 'light'}", height=1100)
    walk.follow(browser.find("#pin").click)
    browser.find("#proof .notice.good", "It is the key that you pinned")
    kept = browser.run("return {...localStorage}")
    expect(len(kept) == 1 and "+" in list(kept.values())[0], f"more than a public key is kept: {kept}")
    walk.follow(browser.find("#unpin").click)
    browser.find("#pin")
    expect(browser.run("return localStorage.length") == 0, "the key is still kept")


@scenario
def other_views(walk):
    """The log, the findings, and the form that finds an answer's entry."""
    browser, settings = walk.browser, walk.settings
    for width, dark in ((1280, True), (390, False)):
        walk.sign_in(route="log", width=width, dark=dark)
        browser.find("#checkpoint .notice.good", "signed by the log's key")
        walk.accept()
        check_checkpoint(walk)
        walk.go("reconciliation")
        browser.find("h2", "Redeemed without a record")
        browser.find(".badge.neutral", "not known: no notifications")
        expect(not browser.all("main .badge.good"), "no store has reported, but something is shown as well")
        headings = browser.run("return [...document.querySelectorAll('[aria-labelledby=apps] th')].map((head) => head.textContent)")
        expect("Not known" in headings and "notTold" not in headings, f"headings {headings}")
        expect(not browser.all(".notice.bad"), browser.text(".notice.bad"))
        walk.accept()
        answer = json.loads(settings["answer"])
        for pasted, title in ((settings["answer"], "This service signed it"), (settings["answer"], "The signature is right"),
                              (answer["nonce"], "There is an entry"),
                              (answer["grantId"], "There is an entry")):
            walk.go("nowhere")
            walk.go("find")
            walk.accept()
            browser.run("document.getElementById('found-answer').value = arguments[0]", pasted)
            browser.find("form.lookup button.main").click()
            browser.find("#lookup-outcome .notice", title)
            expect(browser.find("#lookup-outcome table a").text == f"#{settings['index']}", "another entry")
            walk.accept()
        browser.run("""
            document.getElementById("found-answer").value = arguments[0];
            document.getElementById("found-error").value = "SKErrorDomain 18";
        """, settings["answer"])
        browser.find("form.lookup button.main").click()
        browser.find("#lookup-outcome .notice.warn", "the Apple account may not have the offer")
        browser.find("#lookup-outcome .findings li", "likely: ")
        walk.accept()
        browser.run("""
            document.getElementById("found-error").value = "";
            document.getElementById("found-appAccountToken").value = "00000000-0000-4000-8000-000000000000";
        """)
        walk.expected_complaints = [r"status of 404"]
        browser.find("form.lookup button.main").click()
        browser.find("#lookup-outcome .notice.bad", "for something other than the App Store expects")
        browser.find("#lookup-outcome .findings li", "proved: ")
        walk.accept()
        browser.run("document.getElementById('found-appAccountToken').value = ''")
        browser.run("""
            document.getElementById("found-answer").value = arguments[0];
            document.getElementById("found-timestamp").value = "5";
        """, settings["answer"])
        walk.expected_complaints = [r"status of 404"]
        browser.find("form.lookup button.main").click()
        notice = browser.find("#lookup-outcome .notice.warn", "There is no such entry").text
        expect("differs in timestamp" in notice, notice)
    walk.go("nowhere")
    browser.find("main p", "The address leads nowhere")


def check_checkpoint(walk):
    """The checkpoint is shown with its own line ends, and can be copied as it is."""
    browser = walk.browser
    shown = browser.run("return document.querySelector('#checkpoint pre').textContent")
    expect(re.fullmatch(r"[^\n]+\n\d+\n[^\n]{44}\n\n(— [^\n]+\n)+", shown), f"not a checkpoint: {shown!r}")
    expect("U+000A" not in browser.text("#checkpoint"), "line ends are shown as codes")
    browser.find("#checkpoint button.copy").click()
    wait_for("the checkpoint is copied, or selected",
             lambda: re.match("Copied|Selected", browser.text("#checkpoint button.copy")))
    if browser.text("#checkpoint button.copy").startswith("Selected"):
        expect(browser.run("return getSelection().toString()").strip() == shown.strip(), "something else is selected")


@scenario
def customers(walk):
    """A customer by name: what is recorded under the pseudonyms. The name stays out of addresses, log and browser."""
    browser, settings = walk.browser, walk.settings
    token = settings["attached"]["appAccountToken"]
    for width, dark in ((1280, False), (390, True)):
        walk.sign_in(route="customers", width=width, dark=dark)
        wait_for("the app is suggested", lambda: browser.run("return document.getElementById('customer-app').value"))
        walk.accept()
        browser.run("document.getElementById('customer-kind').value = 'appAccountToken'")
        browser.find("#customer-name").type(token)
        browser.find("form.customer button.main").click()
        browser.find("#customer-outcome h2", "What is on record")
        links = [link.text for link in browser.all("#customer-outcome table.entries tbody th a")]
        expect(links == [f"#{settings['index']}"], f"{links}")
        expect(any("hmac:" in link.text for link in browser.all("#customer-outcome a .value")), "no pseudonym is shown")
        walk.accept()
        kept = browser.run("return JSON.stringify({...localStorage}) + JSON.stringify({...sessionStorage}) + location.href")
        expect(token not in kept, "the name is kept")
    browser.run("document.getElementById('customer-name').value = '00000000-0000-4000-8000-000000000000'")
    browser.find("form.customer button.main").click()
    browser.find("#customer-outcome .notice.warn", "No entry is about this customer")
    for url in browser.requests():
        expect(token not in url, f"the name is part of an address: {url}")
    walk.go("entries?event=customer.lookup")
    rows = browser.all("table.entries tbody tr")
    expect(len(rows) == 3 and "security" in rows[0].text, "the lookups are not on record")
    expect(token not in browser.text(), "the name is on record")


def sign(settings):
    """Has the service sign something for a new customer."""
    body = json.loads(settings["request"])
    body["appAccountToken"] = str(uuid.uuid4())
    body["customerId"] = f"console-{body['appAccountToken']}"
    body["facts"].pop("originalTransactionId", None)
    request = urllib.request.Request(
        f"{settings['url']}/v1/app-store/promotional-offers/signatures", json.dumps(body).encode(),
        {"Authorization": f"Bearer {settings['apiKeys']['backend']}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def ask_why(walk, pasted="", **members):
    """Asks why a signature was refused; `members` are fields of the form."""
    browser = walk.browser
    walk.go("nowhere")
    walk.go("find")
    browser.run("""
        document.getElementById("found-answer").value = arguments[0];
        for (const [name, text] of Object.entries(arguments[1])) {
          const field = document.getElementById(`found-${name}`);
          if (text === true) field.click();
          else field.value = text;
        }
    """, pasted, members)
    browser.find("form.lookup button.main").click()
    browser.find("#lookup-outcome .notice")


@scenario
def diagnosis(walk):
    """A verdict says what is known and what is not; of a batch there is one for each signature."""
    browser, settings = walk.browser, walk.settings
    # What has too few members, or differs from the record, has no entry.
    walk.expected_complaints = [r"status of 40[04]"]
    outcome = "#lookup-outcome .notice"
    for who, width, dark in (("auditor", 1280, False), ("admin", 390, True)):
        walk.sign_in(who, route="find", width=width, dark=dark)
        walk.accept()
        expect(bool(browser.all("#found-askStore")) == (who == "admin"), f"{who} and the question to the store")
        grant = sign(settings)
        answer = json.dumps(grant)
        ask_why(walk, answer, error="SKErrorDomain 12")
        browser.find(f"{outcome}.good", "The signature is right")
        browser.find(f"{outcome} .known li", "This service made it: entry #")
        browser.find(f"{outcome} .known li", "Transactions of the customer in this app that the ledger knows: 0.")
        browser.find(f"{outcome} .undecidable li", "Whether the key was revoked")
        browser.find(f"{outcome} p", "Reported errors: SKErrorDomain 12. Codes of underlying errors")
        walk.accept()
        ask_why(walk, answer, nothing=True)
        browser.find(f"{outcome}.bad .findings li", "token-not-attached")
        expect(browser.find("#found-appAccountToken").attribute("disabled"), "a token can be filled in beside it")
        browser.find("#found-nothing").click()
        expect(not browser.find("#found-appAccountToken").attribute("disabled"), "no token can be filled in again")
        day_after_tomorrow = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=2)
        for attempt in (f"{day_after_tomorrow:%Y-%m-%d %H:%M:%S}", str(int(day_after_tomorrow.timestamp() * 1000))):
            ask_why(walk, answer, attemptedAt=attempt)
            browser.find(f"{outcome}.bad", "The signature was too old")
            browser.find(f"{outcome} .known li", "older than 24 hours when the app asked to buy")
        ask_why(walk, answer, attemptedAt="the day after")
        browser.find(f"{outcome}.bad", "The time of the attempt can't be read")
        ask_why(walk, signature=grant["signature"], bundleId=settings["attached"]["bundleId"])
        browser.find(f"{outcome}.warn", "The report lacks what is needed to find the cause")
        browser.find(f"{outcome} .undecidable li", "needs-fields")
        expect("nonce" in browser.find(f"{outcome} p", "The report lacks: ").text, "the missing members are not named")
        walk.accept()
        other = sign(settings)
        batch = {"results": [{"status": 200, "grant": grant}, {"status": 404, "problem": {"type": "/problems/unknown-offer"}},
                             {"status": 200, "grant": {**other, "signature": grant["signature"]}}]}
        ask_why(walk, json.dumps(batch))
        browser.find(f"{outcome}.good", f"1 of 2, {grant['identifier']}, {grant['nonce']}")
        browser.find(f"{outcome}.bad, {outcome}.warn", f"2 of 2, {other['identifier']}, {other['nonce']}")
        walk.accept()
    ask_why(walk, answer, askStore=True)
    browser.find(f"{outcome}.bad", "transaction of the customer to ask the store about")
    ask_why(walk, answer, askStore=True, transactionId="704000000000000001")
    browser.find(f"{outcome} .known li", "The App Store gave no answer: ")
    walk.accept()


@scenario
def list_comfort(walk):
    """Reads are hidden, reasons have words, headings sort, new entries appear, searches are kept, slips are noticed."""
    browser, settings = walk.browser, walk.settings
    events = "return [...document.querySelectorAll('table.entries td[data-column=Event] small')].map((cell) => cell.textContent)"
    walk.sign_in(route="entries")
    expect("audit.read" not in browser.run(events), "reads of the log are shown")
    walk.follow(browser.find(".reads a", "Show them").click)
    expect("audit.read" in browser.run(events), "reads of the log stay hidden")
    walk.go("entries?event=sign.deny")
    row = browser.find("table.entries tbody tr").text
    expect("Refused" in row and "sign.deny" in row and "the subscription" in row.lower(), f"no words in {row}")
    walk.go("entries")
    for order in ("ascending", "descending"):
        browser.find("table.entries thead button", "Event").click()
        browser.find(f"table.entries th[aria-sort={order}]", "Event")
        shown = browser.run("return [...document.querySelectorAll('table.entries td[data-column=Event]')].map((cell) => cell.textContent.toLowerCase())")
        expect(shown == sorted(shown, reverse=order == "descending"), f"not sorted: {shown}")
    walk.accept()
    walk.go("nowhere")
    walk.go("entries")
    before = browser.find("table.entries tbody a").text
    browser.find("#follow").click()
    grant = sign(settings)["grantId"]
    wait_for("the new entry appears", lambda: browser.find("table.entries tbody a").text != before, 30)
    walk.follow(browser.find("table.entries tbody a").click)
    expect(grant in browser.text(".facts"), "another entry came first")
    check_saved(walk)
    check_slips(walk)
    browser.devtools("Emulation.setTimezoneOverride", timezoneId="Asia/Tokyo")
    walk.go("entries?from=-30d&event=sign.intent")
    local = browser.find("table.entries time .local").text
    browser.devtools("Emulation.setTimezoneOverride", timezoneId="")
    expect("GMT+9" in local, f"the local time is {local}")
    walk.go("entries")
    browser.find("#refresh")
    walk.follow(browser.find("#refresh").click)


def check_saved(walk):
    """A search that was saved is there after a reload, and until it is taken away."""
    browser, settings = walk.browser, walk.settings
    walk.go(f"entries?key={settings['key']}&event=sign.intent&from=-30d")
    browser.find("details.save summary").click()
    browser.find("#search-name").type("Uses of <b>our</b> key")
    browser.find("details.save button").click()
    walk.sign_in(route="entries")
    walk.follow(browser.find("a.saved", "Uses of <b>our</b> key").click)
    expect(f"key={settings['key']}" in browser.url and "from=-30d" in browser.url, browser.url)
    browser.find("[aria-label='Forget: Uses of <b>our</b> key']").click()
    expect(not browser.all("a.saved") and browser.run("return localStorage.length") == 0, "the search is still kept")


def check_slips(walk):
    """A name that no entry has is noticed, and so is a customer's name where a pseudonym belongs."""
    browser = walk.browser
    walk.go("entries")
    wait_for("names are suggested", lambda: browser.run(
        "return [...document.querySelectorAll('#names-caller option')].some((option) => option.value === 'campaigns')"))
    walk.go("entries?caller=campaign")
    browser.find(".notice.warn", "Something may be mistyped")
    walk.accept()
    walk.follow(browser.find(".notice.warn a", "campaigns").click)
    expect(browser.all("table.entries tbody tr"), "the suggestion finds nothing")
    walk.expected_complaints = [r"status of 400"]
    walk.go("entries?user=customer-42")
    notice = browser.find(".panel-body .notice.bad").text
    expect("pseudonym" in notice and "/v1/audit/customers" in notice, notice)


@scenario
def events(walk):
    """Each receiver of events: how far it is, what it has not taken and why, and what to do; no secret is shown."""
    browser, settings = walk.browser, walk.settings
    sign(settings)
    for who, width, dark in (("auditor", 1280, False), ("auditor", 390, True), ("admin", 390, False), ("admin", 1280, True)):
        walk.sign_in(who, route="events", width=width, dark=dark)
        wait_for("the failure is on record", lambda: failed_delivery(walk), 30)
        row = browser.find("[aria-labelledby=receivers] tbody tr", "backend").text
        expect("http://127.0.0.1:1/…" in row and "Standard Webhooks" in row, f"{row}")
        expect("archive.ndjson" in browser.find("[aria-labelledby=receivers] tbody tr", "archive").text, "no file is shown")
        browser.find("[aria-labelledby=receivers] .badge.good", "delivering")
        browser.find("[aria-labelledby=not-taken] tbody td", "connection")
        expect(browser.all("[aria-labelledby=not-taken] tbody time"), "no next attempt is shown")
        expect(not browser.all(".notice.bad"), browser.text("main"))
        shown = browser.run("return document.documentElement.outerHTML")
        expect("token-in-path" not in shown and "whsec" not in shown, "a secret is shown")
        walk.accept()
    walk.follow(browser.find("[aria-labelledby=not-taken] tbody a").click)
    browser.find("#proof .notice.good")
    walk.end_scenario()
    check_stopped_receivers(walk)


def failed_delivery(walk):
    """Whether the page shows that the receiver named backend has not taken something; asks again if not."""
    if walk.browser.all("[aria-labelledby=not-taken] tbody tr"):
        return True
    walk.follow(walk.browser.find("#refresh").click)
    return False


def check_stopped_receivers(walk):
    """What a receiver that gets nothing looks like, and what to run; the page of a service without receivers."""
    browser = walk.browser
    lost = {"index": 1, "attempts": 6, "failure": "it answered with status 400", "givenUpAt": "2026-11-21T08:41:28.617Z"}
    held = {"index": 2, "attempts": 0}
    base = {"kind": "webhook", "format": "cloudevents", "target": "https://a.example/…", "delivered": 3, "nextIndex": 1,
            "backlog": 4, "open": 0, "givenUp": 0, "deliveries": []}
    answer = {"logSize": 5, "endpoints": [
        {**base, "id": "gone", "state": "disabled", "reason": "it answered with status 410", "disabledAt": lost["givenUpAt"]},
        {**base, "id": "picky", "state": "delivering", "givenUp": 70, "deliveries": [lost]},
        {**base, "id": "slow", "state": "paused", "reason": "it answered with status 503", "open": 1, "deliveries": [held]},
        {"id": "new", "kind": "relay", "target": "https://b.example/…", "state": "starting", "delivered": 0, "open": 0,
         "givenUp": 0, "deliveries": []},
    ]}
    with Between(walk) as proxy:
        proxy.change = lambda path, body: json.dumps(answer).encode() if path == "/v1/events/endpoints" else body
        for width in (1280, 390):
            walk.sign_in("admin", route="events", width=width)
            for state, kind in (("disabled", "bad"), ("paused", "bad"), ("starting", "neutral"), ("given up", "bad")):
                browser.find(f".badge.{kind}", state)
            for kind, title, command in (
                ("bad", "gone gets no events", "events endpoints --enable gone"),
                ("bad", "picky: 70 given up", "events replay --endpoint picky --from-index 1"),
                ("warn", "slow is not sent anything now", "events endpoints --enable slow"),
            ):
                notice = browser.find(f".notice.{kind}", title).text
                expect(command in notice, f"{title}: {notice}")
            expect("1 of 70 are shown" in browser.text("[aria-labelledby=not-taken]"), "the page does not say that it left something out")
            walk.accept()
        answer["endpoints"] = []
        walk.follow(browser.find("#refresh").click)
        browser.find("[aria-labelledby=receivers] p", "No receiver is set up")
        walk.accept()


# With the keyboard alone


@scenario
def keyboard(walk):
    """Nothing but keys: sign in, go to a key, to last Tuesday, to an entry; the focus is always to be seen."""
    browser, settings = walk.browser, walk.settings
    walk.open()
    browser.find("#api-key")
    browser.press(*settings["apiKeys"]["auditor"], ENTER)
    browser.find("#sign-out")
    browser.settle()
    browser.run("document.getElementById('skip').focus()")
    expect(browser.run("return document.activeElement.getBoundingClientRect().left >= 0"), "the skip link stays hidden")
    browser.press(ENTER)
    expect(browser.run("return document.activeElement.tagName") == "H1", "the skip link does not skip")
    tab_to(walk, "svg.usage a")
    before = browser.run("return document.activeElement.getAttribute('aria-label')")
    browser.press(LEFT)
    after = browser.run("return document.activeElement.getAttribute('aria-label')")
    expect(before != after and " use" in after, f"the arrow leads from {before} to {after}")
    tab_to(walk, ".key-link")
    walk.follow(lambda: browser.press(ENTER))
    browser.find("h1", "Entries of key")
    tab_to(walk, ".choices a", settings["tuesday"])
    walk.follow(lambda: browser.press(ENTER))
    browser.find(".choices a[aria-current]", settings["tuesday"])
    check_callers(walk)
    tab_to(walk, "table.entries a")
    walk.follow(lambda: browser.press(ENTER))
    browser.find("#proof .notice.good")
    expect(browser.run("return document.activeElement.tagName") == "H1", "the focus is not on the new heading")


def tab_to(walk, selector, text="", limit=60):
    """Presses Tab until the focus is there; wherever it is on the way, it must be seen."""
    for _ in range(limit):
        walk.browser.press(TAB)
        found = walk.browser.run("""
            const node = document.activeElement;
            const shown = node.querySelector?.(".target") ?? node;
            const style = getComputedStyle(shown);
            const box = node.getBoundingClientRect();
            return {
                fits: node.matches(arguments[0]) && node.textContent.includes(arguments[1]),
                visible: node === document.body || (box.width > 0 && box.bottom > 0 && box.top < innerHeight &&
                    (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 || shown !== node && style.stroke !== "none")),
                name: node.outerHTML.slice(0, 120),
            };
        """, selector, text)
        expect(found["visible"], f"the focus can't be seen on {found['name']}")
        if found["fits"]:
            return
    raise Failure(f"Tab does not lead to {selector} {text}")


# With an attacker in between


class Between:
    """The console through a proxy that changes answers; everything else of the walk stays as it is."""

    def __init__(self, walk):
        self.walk = walk

    def __enter__(self):
        self.proxy = TamperingProxy(self.walk.settings["url"])
        self.walk.url = self.proxy.url
        return self.proxy

    def __exit__(self, *failure):
        try:
            if not failure[0]:
                self.walk.end_scenario()
        finally:
            self.walk.browser.open("about:blank")
            self.walk.forget()
            self.proxy.close()
            self.walk.url = self.walk.settings["url"]


def changed_base64(text, place, bit=1):
    content = bytearray(base64.b64decode(text))
    content[place % len(content)] ^= bit
    return base64.b64encode(content).decode()


def change_entry(body):
    """Another digit in the entry, so that it is still JSON."""
    answer = json.loads(body)
    content = bytearray(base64.b64decode(answer["bytes"]))
    place = content.rindex(b'"t":') + 6
    content[place] = ord("7") if content[place] != ord("7") else ord("8")
    answer["bytes"] = base64.b64encode(content).decode()
    return json.dumps(answer).encode()


def misquote(body):
    """Another entry beside bytes that are as they were."""
    answer = json.loads(body)
    answer["entry"]["caller"] = "not-" + answer["entry"]["caller"]
    return json.dumps(answer).encode()


def proof_lines(body):
    """The parts of a proof: its own lines, the checkpoint's three, and the signatures."""
    head, note, signatures = body.decode().split("\n\n")
    return head.split("\n"), note.split("\n"), signatures.split("\n")


def joined(head, note, signatures):
    return "\n\n".join("\n".join(lines) for lines in (head, note, signatures)).encode()


def change_proof(place):
    def change(body):
        head, note, signatures = proof_lines(body)
        head[place] = changed_base64(head[place], 5)
        return joined(head, note, signatures)
    return change


def drop_proof_hash(body):
    head, note, signatures = proof_lines(body)
    return joined(head[:-1], note, signatures)


def add_proof_hash(body):
    head, note, signatures = proof_lines(body)
    return joined(head + head[-1:], note, signatures)


def change_index(body):
    return re.sub(rb"index (\d+)", lambda found: b"index %d" % (int(found[1]) + 1), body)


def change_size(body):
    head, note, signatures = proof_lines(body)
    note[1] = str(int(note[1]) + 1)
    return joined(head, note, signatures)


def change_root(body):
    head, note, signatures = proof_lines(body)
    note[2] = changed_base64(note[2], 31)
    return joined(head, note, signatures)


def change_signature(body):
    head, note, signatures = proof_lines(body)
    line, name, signature = signatures[0].split(" ")
    signatures[0] = f"{line} {name} {changed_base64(signature, 20)}"
    return joined(head, note, signatures)


def change_key_id(body):
    head, note, signatures = proof_lines(body)
    line, name, signature = signatures[0].split(" ")
    signatures[0] = f"{line} {name} {changed_base64(signature, 0)}"
    return joined(head, note, signatures)


def change_log_key(body):
    """A well-formed key of another signer, with the id that belongs to it."""
    import hashlib
    answer = json.loads(body)
    name = answer["verifierKey"].split("+")[0]
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    key = b"\x01" + Ed25519PrivateKey.generate().public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    identity = hashlib.sha256(name.encode() + b"\n" + key).digest()[:4]
    answer["verifierKey"] = f"{name}+{identity.hex()}+{base64.b64encode(key).decode()}"
    return json.dumps(answer).encode()


TAMPERING = [
    ("entry", change_entry, "The entry is in the log"),
    ("proof", change_proof(2), "The entry is in the log"),
    ("proof", change_proof(-1), "The entry is in the log"),
    ("proof", drop_proof_hash, "fewer hashes"),
    ("proof", add_proof_hash, "more hashes"),
    ("proof", change_index, "The entry is in the log"),
    ("proof", change_size, "The"),
    ("proof", change_root, "The entry is in the log"),
    ("proof", change_signature, "The log's key signed the root"),
    ("proof", change_key_id, "The log's key signed the root"),
    ("log", change_log_key, "The log's key signed the root"),
]


@scenario
def tampering(walk):
    """One changed byte, wherever it is, and the page says that the entry does not verify."""
    browser, index = walk.browser, walk.settings["index"]
    paths = {"entry": f"/v1/audit/entries/{index}", "proof": f"/v1/audit/entries/{index}/proof", "log": "/v1/audit/log"}
    with Between(walk) as proxy:
        walk.sign_in(route=f"entries/{index}")
        browser.find("#proof .notice.good", "Verified in this browser")
        for what, change, step in TAMPERING:
            proxy.change = lambda path, body: change(body) if path == paths[what] else body
            walk.go("nowhere")
            walk.go(f"entries/{index}")
            expect(not browser.all("#proof .notice.good"), f"{change.__name__} of the {what} goes unnoticed")
            browser.find("#proof .notice.bad", "does NOT verify")
            last = browser.run("return [...document.querySelectorAll('#proof .steps li')].at(-1).innerText")
            expect("✗" in last and step in last, f"{change.__name__}: {last}")
        # The console ignores the entry beside the bytes.
        proxy.change = lambda path, body: misquote(body) if path == paths["entry"] else body
        walk.go("nowhere")
        walk.go(f"entries/{index}")
        browser.find("#proof .notice.good", "Verified in this browser")
        expect("not-" not in browser.text(".facts"), "what is shown is not what was verified")
        change = TAMPERING[0][1]
        proxy.change = lambda path, body: change(body) if path == paths["entry"] else body
        walk.go("nowhere")
        walk.go(f"entries/{index}")
        browser.find("#proof .notice.bad", "does NOT verify")
        walk.accept()
        walk.picture("console-tampered-1280-light", height=700)


@scenario
def other_log_key(walk):
    """A log with another key than the pinned one is noticed in every view, and verifies nothing."""
    browser, index = walk.browser, walk.settings["index"]
    with Between(walk) as proxy:
        walk.sign_in(route="log")
        walk.follow(browser.find("#pin").click)
        proxy.change = lambda path, body: change_log_key(body) if path == "/v1/audit/log" else body
        walk.go("entries")
        browser.find("#notices .notice.bad", "not the one that you pinned")
        walk.go(f"entries/{index}")
        browser.find("#proof .notice.good")
        browser.run("localStorage.clear()")
        walk.go("nowhere")
        walk.go(f"entries/{index}")
        browser.find("#proof .notice.bad", "does NOT verify")


NEEDLES = [
    "<img src=x onerror=\"document.title='owned'\">", "</title><script>document.title='owned'</script>",
    "\u202egpj.exe\u2066", "javascript:document.title='owned'", "a\u0000b\u200b\u2028c\ufeff\u00ad", "' onmouseover='x' \"x",
    "{{7*7}}${7*7}", "\u0627\u0644\u0639\u0631\u0628\u064a\u0629",
]


def plant(value, place=[0]):
    """Replaces texts that callers chose by hostile ones, wherever they are in an answer."""
    if isinstance(value, list):
        return [plant(item) for item in value]
    if not isinstance(value, dict):
        return value
    chosen = {"caller", "offer", "product", "bundle", "rule", "ev", "code", "detail", "name", "outcome", "kid", "key",
              "origin", "cause", "offerId", "productId", "grantedTo", "target", "reason", "failure", "kind"}
    planted = {}
    for name, member in value.items():
        if name in chosen and isinstance(member, str):
            place[0] += 1
            member = NEEDLES[place[0] % len(NEEDLES)]
        planted[name] = plant(member)
    return planted


@scenario
def hostile_text(walk):
    """Whatever strings the log holds, they are shown as text, with what is invisible made visible."""
    browser, index = walk.browser, walk.settings["index"]
    walk.expected_complaints = [r"status of 40[04]"]

    def change(path, body):
        if not path.startswith("/v1/") or path.startswith("/v1/callers") or path.endswith("/proof") or b"{" not in body[:1]:
            return body
        answer = json.loads(body)
        if path.startswith("/v1/audit/reconciliation"):
            answer["redeemedWithoutRecord"] = [{"index": 1, "offerId": "x", "productId": "x", "grantedTo": "x"}] * 3
        answer = plant(answer)
        if "bytes" in answer:
            answer["bytes"] = base64.b64encode(json.dumps(plant(answer["entry"]), ensure_ascii=False).encode()).decode()
        return json.dumps(answer).encode()

    with Between(walk) as proxy:
        proxy.change = change
        for width in (1280, 390):
            walk.sign_in(width=width)
            for route in ("", "entries", "entries?group=caller", f"entries/{index}", "log", "reconciliation", "events",
                          "entries?caller=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"):
                walk.go("nowhere")
                walk.go(route)
                expect(browser.all("main .value"), f"{route}: nothing is shown: {browser.text()[:800]}")
                strange = browser.run("""
                    return [...document.querySelectorAll("img, script:not([src]), iframe, object, embed, b, [onerror], [onmouseover], " +
                        "a[href^='javascript'], a[href^='http']")].map((node) => node.outerHTML);
                """)
                expect(not strange, f"{route}: markup came out of the record: {strange[:2]}")
                raw = browser.run(r"return document.body.textContent.match(/[\u0000-\u0008\u200b\u2028\u202e\u2066\ufeff\u00ad]/u)?.[0] ?? null")
                expect(raw is None, f"{route}: {raw!r} is shown as it is")
                expect("owned" not in browser.command("GET", "/title"), "a script ran")
                problems = [problem for problem in problems_of(browser) if "two elements" not in problem]
                expect(not problems, f"{route}: {problems[:4]}")
            walk.go("entries")
            expect("onerror" in browser.text("main"), "the needles are not shown at all")
            expect(browser.run("return [...document.querySelectorAll('.odd')].some((node) => node.textContent === 'U+202E')"),
                   "the override of direction is not made visible")


# When something does not work


@scenario
def outages(walk):
    """What the service can't do is said where it is missed, with what to do; trying again helps once it can."""
    browser = walk.browser
    with Between(walk) as proxy:
        walk.expected_complaints = [r"status of 50[03]", r"status of 40[13]", r"ERR_EMPTY_RESPONSE"]
        walk.sign_in()
        proxy.change = lambda path, body: b"<html>no</html>" if path.startswith("/v1/audit/summary") else body
        walk.go("?days=7")
        browser.find("[aria-labelledby=usage] .notice.bad", "The answer can't be read")
        expect("active" in browser.text("[aria-labelledby=keys]"), "one failure hides the rest")
        walk.accept()
        proxy.change = lambda path, body: body
        problem = {"type": "/problems/overloaded", "title": "Too much is waiting", "detail": "Later.",
                   "instance": "urn:uuid:0193-test"}
        proxy.instead = lambda path: (503, problem, [("Retry-After", "7")]) if path.startswith("/v1/audit/entries") else None
        walk.go("entries")
        notice = browser.find(".panel-body .notice.bad", "Too much is waiting").text
        expect("wait 7 seconds" in notice and "0193-test" in notice and "/health/ready" in notice, notice)
        proxy.instead = lambda path: None
        browser.find(".panel-body .notice.bad button", "Try again").click()
        browser.find("table.entries")
        proxy.is_cut = True
        walk.go("log")
        notice = browser.find("[aria-labelledby=state-title] .notice.bad", "The service can't be reached")
        expect("Check your connection" in notice.text, "no advice")
        walk.accept()
        proxy.is_cut = False
        browser.find("[aria-labelledby=state-title] .notice.bad button", "Try again").click()
        browser.find("#checkpoint .notice.good")
        problem = {"type": "/problems/role-not-allowed", "title": "The role may not ask for this"}
        proxy.instead = lambda path: (403, problem, []) if path.startswith("/v1/keys") else None
        walk.go("")
        browser.find("[aria-labelledby=keys] .notice.bad", "This API key may not do that")
        problem = {"type": "/problems/unauthenticated", "title": "No valid API key"}
        proxy.instead = lambda path: (401, problem, []) if path.startswith("/v1/") else None
        browser.run("location.hash = '#/log'")
        browser.find("#sign-in-messages .notice.bad", "The API key is not accepted")
        browser.find("#api-key")
        walk.accept()


# Acting


@scenario
def administration(walk):
    """Administrators disable a key and seal the service, after a dialog that keeps the focus; auditors see no button."""
    browser, key = walk.browser, walk.settings["key"]
    walk.sign_in()
    browser.find(".key-link")
    expect(not browser.all("[aria-labelledby=keys] button") and not browser.all("#seal"), "an auditor is offered what is not theirs")
    walk.sign_in("admin", width=390, dark=True)
    browser.find("main button", "Disable").click()
    browser.find("dialog h2", f"Disable key {key}?")
    walk.accept()
    for _ in range(8):
        browser.press(TAB)
        expect(browser.run("return document.activeElement === document.body || document.activeElement.closest('dialog') !== null"),
               "the focus left the dialog")
    browser.press(ESCAPE)
    wait_for("the dialog is closed", lambda: not browser.all("dialog"))
    expect(browser.run("return document.activeElement.textContent") == "Disable", "the focus is not where it was")
    walk.sign_in("admin")
    browser.find("main button", "Disable").click()
    walk.follow(browser.find("dialog button.danger").click)
    browser.find(".badge.bad", "disabled")
    browser.find("main button", "Enable").click()
    walk.follow(browser.find("dialog button.danger").click)
    browser.find(".badge.good", "active")
    browser.find("#seal", "Seal …").click()
    browser.find("dialog button.danger").click()
    expect(browser.run("return document.querySelector('dialog').open"), "it can be sealed without a reason")
    reason = "a <b>laptop</b> was lost"
    browser.find("#reason").type(reason)
    walk.follow(browser.find("dialog button.danger").click)
    notice = browser.find("#notices .notice.bad", "The service is sealed")
    expect(reason in notice.text, f"the reason is not shown as text: {notice.text}")
    walk.accept()
    walk.picture("console-sealed-1280-light", height=700)
    browser.find("#seal", "Unseal …").click()
    browser.find("#reason").type("found again")
    walk.follow(browser.find("dialog button.danger").click)
    wait_for("the service signs", lambda: "The service signs" in browser.text("#notices"))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    walk = Walk(settings)
    failures = 0
    try:
        for name in sys.argv[2:]:
            began = time.monotonic()
            try:
                SCENARIOS[name](walk)
                walk.end_scenario()
                print(f"{name}: as it should be, {time.monotonic() - began:.1f} s")
            except Failure as failure:
                failures += 1
                walk.forget()
                print(f"{name}: {failure}\n{traceback.format_exc()}\n{walk.browser.text()[:1500]}", file=sys.stderr)
    finally:
        walk.browser.close()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
