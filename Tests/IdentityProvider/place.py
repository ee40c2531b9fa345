# SPDX-License-Identifier: Apache-2.0
"""A running service that accepts tokens of identity providers and trusts a fake App Store, and certificates for all."""
import datetime
import ipaddress
import json
import re
import socket
import subprocess
import sys
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

BUNDLE = "com.example.app"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Authority:
    """Certifies servers at 127.0.0.1 for a day."""

    def __init__(self, place, name):
        self.place, self.name = place, x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.key, self.path = ec.generate_private_key(ec.SECP256R1()), place / f"{name}.pem"
        constraint = x509.BasicConstraints(ca=True, path_length=0)
        self.path.write_bytes(self.certified(self.name, self.key, constraint, True))

    def certified(self, name, key, extension, critical):
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = (x509.CertificateBuilder().subject_name(name).issuer_name(self.name).public_key(key.public_key())
                   .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(hours=1))
                   .not_valid_after(now + datetime.timedelta(days=1)).add_extension(extension, critical))
        return builder.sign(self.key, hashes.SHA256()).public_bytes(Encoding.PEM)

    def certify(self, file):
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "login")])
        address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        paths = self.place / f"{file}.pem", self.place / f"{file}.key"
        paths[0].write_bytes(self.certified(name, key, address, False))
        paths[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return paths


class FakeAppStore:
    """The program in Tests/Fakes/AppStore; it ends when its standard input does."""

    def __init__(self, root):
        # Debian's Python has the libraries that it needs.
        self.program = subprocess.Popen(["/usr/bin/python3", "-B", root / "Tests/Fakes/AppStore"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.roots = json.loads(self.program.stdout.readline())["rootPEMPath"]

    def call(self, name, **arguments):
        self.program.stdin.write(json.dumps({"call": name, "arguments": arguments}) + "\n")
        self.program.stdin.flush()
        answer = json.loads(self.program.stdout.readline())
        if "result" not in answer:
            sys.exit(f"{name}: {answer}")
        return answer["result"]

    def purchase(self, token):
        """A signed transaction of a subscriber with that token."""
        made = self.call("setCustomer", appAccountToken=token,
                         subscriptions=[{"state": "active", "productId": "com.example.pro.monthly"}])
        number = re.search(r'"originalTransactionId": ?"(\d+)"', json.dumps(made))[1]
        signed = self.call("signTransaction", transactionId=number, members={})
        return signed if isinstance(signed, str) else next(iter(signed.values()))

    def stop(self):
        self.program.stdin.close()
        self.program.wait()


class Service:
    """Starts on a port of its own with those entries of `identityProviders`; ends with the block."""

    def __init__(self, binary, place, store, authority, entries):
        self.binary, self.place, self.store, self.authority, self.entries = binary, place, store, authority, entries
        self.log = place / "service.log"

    def __enter__(self):
        demo = self.place / "demo"
        subprocess.run([self.binary, "demo", demo], check=True, stdout=subprocess.DEVNULL)
        self.api_key = (demo / "api-key").read_text().strip()
        keys = demo / "keys"
        before, after = keys.read_text().rsplit("customerIds:", 1)
        keys.write_text(f"{before}identityProviders: {json.dumps(self.entries)},\n  customerIds:{after}")
        self.files = ["--keys", keys, "--offers", demo / "offers", "--trusted-certificates", self.authority]
        self.start()
        return self

    def start(self, port=0):
        self.program = subprocess.Popen(
            [self.binary, "serve", *self.files, "--database", f"sqlite:{self.place}/demo/offer-signer.db",
             "--listen", f"127.0.0.1:{port}", "--clock-check", "warn", "--app-store-roots", self.store.roots,
             "--revocation-check", "off", "--app-rate-per-customer", "none", "--app-rate-per-address", "none"],
            stderr=self.log.open("w"))
        self.port = self.wait()

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.program.terminate()
        self.program.wait()

    def wait(self):
        for _ in range(300):
            found = re.search(r'"message":"listening".*"port":(\d+)', self.log.read_text())
            if found:
                return int(found[1])
            time.sleep(0.1)
        sys.exit(f"The service does not listen:\n{self.log.read_text()}")

    def explain(self, token):
        """What `tokens explain` says to the operator, and its exit code."""
        file = self.place / "token.txt"
        file.write_text(token)
        done = subprocess.run([self.binary, "tokens", "explain", file, *self.files], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout + done.stderr
