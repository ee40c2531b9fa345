# SPDX-License-Identifier: Apache-2.0
"""A running service with the example's catalog, and an offer at a fake Google Play."""

import json
import re
import subprocess
import sys
import time

PLAN = """{id: "premium", googlePlay: {productId: "premium", basePlanId: "monthly"},
  offers: [{id: "winback-50", googlePlay: {offerId: "winback-50"}}]},
"""


class FakeGooglePlay:
    """The program in Tests/Fakes/GooglePlay; it ends when its standard input does."""

    def __init__(self, root):
        self.program = subprocess.Popen(
            [sys.executable, "-B", root / "Tests/Fakes/GooglePlay"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.description = json.loads(self.program.stdout.readline())

    def call(self, name, **arguments):
        self.program.stdin.write(json.dumps({"call": name, "arguments": arguments}) + "\n")
        self.program.stdin.flush()
        return json.loads(self.program.stdout.readline())["result"]

    def stop(self):
        self.program.stdin.close()
        self.program.wait()


class Service:
    """Starts on a port of its own, with a backend's API key and an auditor's; ends with the block."""

    def __init__(self, root, binary, place):
        self.root, self.binary, self.demo, self.log = root, binary, place / "demo", place / "log"

    def __enter__(self):
        self.play = FakeGooglePlay(self.root)
        subprocess.run([self.binary, "demo", self.demo], check=True, stdout=subprocess.DEVNULL)
        self.set_up_google_play()
        database = f"sqlite:{self.demo}/offer-signer.db"
        self.backend = (self.demo / "api-key").read_text().strip()
        self.auditor = subprocess.run(
            [self.binary, "callers", "add", "auditor", "--role", "auditor", "--database", database],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()
        origin = self.play.description["origins"]["https"]
        self.program = subprocess.Popen(
            [self.binary, "serve", "--keys", self.demo / "keys", "--offers", self.demo / "offers", "--database", database,
             "--listen", "127.0.0.1:0", "--clock-check", "warn", "--google-play-url", origin, "--google-oauth-url", origin,
             "--trusted-certificates", self.play.description["tlsCAPath"]], stderr=self.log.open("w"))
        self.url = self.wait()
        return self

    def __exit__(self, *_):
        self.program.terminate()
        self.program.wait()
        self.play.stop()

    def set_up_google_play(self):
        email = "offers@example.iam.gserviceaccount.com"
        self.play.call("setServiceAccount", email=email, packageNames=["com.example.app"])
        path = self.play.call("addAccountKey", email=email)["path"]
        self.play.call("setSubscription", productId="premium", basePlans=[{"basePlanId": "monthly"}])
        self.play.call("setOffer", productId="premium", basePlanId="monthly", offerId="winback-50", tags=["ignore-offer"],
                       phases=[{"kind": "free", "duration": "P7D", "recurrenceCount": 1}])
        self.edit("keys", "keys: [", f'googleServiceAccounts: [{{packageNames: ["com.example.app"], file: "{path}"}}], keys: [')
        self.edit("offers", 'bundleId: "com.example.app",', 'bundleId: "com.example.app", packageName: "com.example.app",')
        self.edit("offers", "plans: [", "plans: [" + PLAN)

    def edit(self, name, old, new):
        file = self.demo / name
        text = file.read_text()
        if old not in text:
            sys.exit(f"{old} is not in {file}.")
        file.write_text(text.replace(old, new, 1))

    def wait(self):
        for _ in range(200):
            found = re.search(r'"message":"listening".*"port":(\d+)', self.log.read_text())
            if found:
                return f"http://127.0.0.1:{found[1]}"
            time.sleep(0.1)
        sys.exit(f"The service does not listen:\n{self.log.read_text()}")
