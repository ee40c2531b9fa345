# SPDX-License-Identifier: Apache-2.0
"""A running service with the demo's catalog, that trusts a fake App Store, and whose app has an SDK's key."""
import json
import re
import subprocess
import sys
import time
import urllib.request


class FakeAppStore:
    """The program in Tests/Fakes/AppStore; it ends when its standard input does."""

    def __init__(self, root):
        self.program = subprocess.Popen([sys.executable, "-B", root / "Tests/Fakes/AppStore"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.description = json.loads(self.program.stdout.readline())

    def call(self, name, **arguments):
        self.program.stdin.write(json.dumps({"call": name, "arguments": arguments}) + "\n")
        self.program.stdin.flush()
        answer = json.loads(self.program.stdout.readline())
        if "result" not in answer:
            sys.exit(f"{name}: {answer}")
        return answer["result"]

    def stop(self):
        self.program.stdin.close()
        self.program.wait()


class Service:
    """Starts on a port of its own; ends with the block."""

    def __init__(self, root, binary, place, sdk_key, token, bundle):
        self.root, self.binary, self.place, self.log = root, binary, place, place / "service.log"
        self.sdk_key, self.token, self.bundle = sdk_key, token, bundle

    def run(self, *arguments):
        return subprocess.run([self.binary, *arguments], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True).stdout.strip()

    def __enter__(self):
        self.store = FakeAppStore(self.root)
        customer = self.store.call("setCustomer", appAccountToken=self.token,
                                   subscriptions=[{"state": "active", "productId": "com.example.pro.monthly"}])
        self.transaction_id = re.search(r'"originalTransactionId": ?"(\d+)"', json.dumps(customer))[1]
        self.signed = self.jws({})
        self.signed_without_token = self.jws({"appAccountToken": None})
        demo = self.place / "demo"
        self.run("demo", demo)
        database = f"sqlite:{demo}/offer-signer.db"
        self.backend = (demo / "api-key").read_text().strip()
        self.run("callers", "add", "revenuecat", "--role", "app", "--bundle", self.bundle, "--database", database)
        self.run("callers", "add-key", "revenuecat", "--sdk-key", self.sdk_key, "--database", database)
        key = next(demo.glob("*.p8"))
        self.public_key = self.place / "public.pem"
        subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", self.public_key], check=True)
        self.program = subprocess.Popen(
            [self.binary, "serve", "--keys", demo / "keys", "--offers", demo / "offers", "--database", database,
             "--listen", "127.0.0.1:0", "--clock-check", "warn", "--trusted-proxy", "127.0.0.1",
             "--app-store-roots", self.store.description["rootPEMPath"], "--revocation-check", "off"],
            stderr=self.log.open("w"))
        self.port = self.wait()
        return self

    def __exit__(self, *_):
        self.program.terminate()
        self.program.wait()
        self.store.stop()

    def jws(self, members):
        signed = self.store.call("signTransaction", transactionId=self.transaction_id, members=members)
        return signed if isinstance(signed, str) else next(iter(signed.values()))

    def report(self, transaction_id):
        """Delivers a notification of the App Store's, as Apple would."""
        signed = self.store.call("signNotification", type="SUBSCRIBED", transactionId=transaction_id)
        body = signed if isinstance(signed, str) else signed.get("body") or json.dumps(signed)
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/notifications/app-store", body.encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            if answer.status != 200:
                sys.exit(f"a notification was answered {answer.status}")

    def wait(self):
        for _ in range(300):
            found = re.search(r'"message":"listening".*"port":(\d+)', self.log.read_text())
            if found:
                return int(found[1])
            time.sleep(0.1)
        sys.exit(f"The service does not listen:\n{self.log.read_text()}")
