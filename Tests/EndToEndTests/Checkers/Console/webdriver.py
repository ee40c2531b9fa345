# SPDX-License-Identifier: Apache-2.0
"""A browser, driven through the W3C WebDriver protocol (https://www.w3.org/TR/webdriver2/), with nothing but Python.

Debian's chromium and chromium-driver. What the browser complains of and which addresses it asks for are kept, so that
a check can look at all of it at the end.
"""
import base64
import http.client
import json
import os
import re
import signal
import subprocess
import tempfile
import time

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
PATIENCE = 60


class Failure(Exception):
    """Something on the page is not as it should be."""


class Moved(Failure):
    """The page has drawn another element in the place of this one since it was found, or put it elsewhere."""


# As the page is redrawn while it is used; https://www.w3.org/TR/webdriver2/#errors
MOVED = {"stale element reference", "element click intercepted", "element not interactable"}


def wait_for(what, condition, patience=PATIENCE):
    """Asks again and again until the condition holds, and returns what it answered."""
    deadline = time.monotonic() + patience
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise Failure(f"never came to pass: {what}")
        time.sleep(0.02)


class Browser:
    """One headless browser with a profile of its own; ended by the ids of its processes, whatever happens."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="console-")
        self.log = open(os.path.join(self.folder.name, "driver.log"), "w+")
        # A group of its own, so that what the driver started ends with it.
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=self.log, stderr=self.log, start_new_session=True)
        self.session = None
        try:
            self.port = int(wait_for("the driver listens", self._listening))
            self.session = self._start()
        except BaseException:
            self.close()
            raise

    def _listening(self):
        if self.driver.poll() is not None:
            raise Failure("chromedriver ended: " + open(self.log.name).read())
        found = re.search(r"started successfully on port (\d+)", open(self.log.name).read())
        return found and found.group(1)

    def _start(self):
        arguments = [
            "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
            "--disable-extensions", "--force-color-profile=srgb", "--lang=en-GB", "--hide-scrollbars",
            # Nothing but loopback has a name.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "--user-data-dir=" + os.path.join(self.folder.name, "profile"),
        ]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        options = {"args": arguments, "prefs": {"download.default_directory": self.downloads}}
        answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}})
        return answer["sessionId"]

    @property
    def downloads(self):
        folder = os.path.join(self.folder.name, "downloads")
        os.makedirs(folder, exist_ok=True)
        return folder

    def close(self):
        """Ends the browser, the driver, and whatever they started."""
        try:
            if self.session:
                self.ask("DELETE", f"/session/{self.session}")
        except (OSError, Failure, http.client.HTTPException):
            pass
        try:
            os.killpg(self.driver.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.driver.wait()
        self.log.close()
        self.folder.cleanup()

    # Commands

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value:
            kind = Moved if value["error"] in MOVED else Failure
            raise kind(f"{method} {path}: {value['error']}: {value['message'][:500]}")
        return value

    def command(self, method, path, body=None):
        return self.ask(method, f"/session/{self.session}{path}", body)

    def devtools(self, name, **parameters):
        """A command of Chrome's own protocol, for what WebDriver has no word for."""
        return self.command("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def run(self, script, *arguments):
        """Runs the body of a function in the page."""
        return self.command("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def show(self, width, height=900, dark=False):
        """Makes the window so wide, and the theme light or dark."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ])

    def open(self, url):
        self.command("POST", "/url", {"url": url})

    @property
    def url(self):
        return self.command("GET", "/url")

    def back(self):
        self.command("POST", "/back", {})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("GET", "/screenshot")))

    # Elements

    def all(self, selector):
        found = self.command("POST", "/elements", {"using": "css selector", "value": selector})
        return [Element(self, item[ELEMENT]) for item in found]

    def find(self, selector, text=None):
        """The first element that fits, once there is one; `text` must be in what it shows."""
        def look():
            script = """
                return [...document.querySelectorAll(arguments[0])].find((node) =>
                    node.checkVisibility() && (arguments[1] === null || node.textContent.includes(arguments[1])));
            """
            return self.run(script, selector, text)
        def find():
            return wait_for(f"{selector} {text or ''}", look)[ELEMENT]
        return Element(self, find(), find)

    def text(self, selector="body"):
        """What is shown, as text; empty while there is no such element."""
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def settle(self):
        """Waits until nothing on the page is being loaded, or drawn for the first time."""
        wait_for("the page has loaded", lambda: self.run(
            "return document.querySelector('h1') !== null && document.querySelector('[aria-busy], .drawing:empty') === null"))

    def press(self, *keys):
        """Presses keys one after the other, wherever the focus is."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.command("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    # What happened

    def complaints(self):
        """What the browser complained of since this was last asked: scripts, policies, and calls that failed."""
        return [f"{entry['source']}: {entry['message']}" for entry in self._entries("browser")
                if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """The addresses asked for since this was last asked."""
        messages = [json.loads(entry["message"])["message"] for entry in self._entries("performance")]
        return [message["params"]["request"]["url"] for message in messages
                if message["method"] == "Network.requestWillBeSent"]

    def _entries(self, kind):
        return self.command("POST", "/se/log", {"type": kind})


class Element:
    """Something on the page; `find`, if given, finds it again in a view that is redrawn while it is used."""

    def __init__(self, browser, identity, find=None):
        self.browser = browser
        self.identity = identity
        self.find = find

    def _command(self, method, path, body=None):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self.browser.command(method, f"/element/{self.identity}{path}", body)
            except Moved:
                if self.find is None or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
                self.identity = self.find()

    def click(self):
        self._command("POST", "/click", {})

    def type(self, text):
        self._command("POST", "/clear", {})
        self._command("POST", "/value", {"text": text})

    @property
    def text(self):
        return self._command("GET", "/text")

    def attribute(self, name):
        return self._command("GET", f"/attribute/{name}")

    @property
    def label(self):
        """The name that a screen reader says."""
        return self._command("GET", "/computedlabel")
