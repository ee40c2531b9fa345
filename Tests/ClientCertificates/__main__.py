# SPDX-License-Identifier: Apache-2.0
"""Runs nginx and HAProxy with the configuration of docs/callers.md between clients that have certificates, and the service.

Usage: python3 -B Tests/ClientCertificates BINARY

A certificate must be its caller, and nothing that a client writes into a header may be. Then the configuration is broken in
each way of checks.py, and the checks must show it. nginx and HAProxy are Debian's; if they are not installed, their packages
are unpacked into .build/debian, so that no server is started.
"""
import pathlib
import sys
import tempfile

from certificates import Certificates
from checks import BREAKS, DIRECTLY, HEADERS, SHOP, THROUGH
from client import Client
from proxies import HAProxy, Nginx
from service import PROXY, Demo

CHECKS = {each.what: each for each in THROUGH}
count, failures = 0, 0


def report(where, what, expected, outcome):
    """A line for a check."""
    global count, failures
    count, failures = count + 1, failures + (outcome != expected)
    print(f"{where}: {what}: {outcome}" + ("" if outcome == expected else f", not {expected}: FAILED"), flush=True)


def check(proxy, service, client):
    with proxy.start(service):
        for each in THROUGH:
            report(proxy.name, each.what, each.expected, each.through(client, proxy.port))


def check_directly(header, client):
    """The forged header is refused, though the same from the proxy's address would be believed."""
    for each in DIRECTLY:
        report(f"service with {header}", each.what, each.expected, client.directly(each.headers(client.certificates)))
    report(f"service with {header}", "the same from the proxy's address", SHOP,
           client.directly({header: client.certificates.header(header, SHOP)}, PROXY))


def check_breaks(proxy, service, client):
    """Each break must change the outcomes that it names; gives the names of the checks that fail on one."""
    noticed = set()
    for what, pattern, new, outcomes in BREAKS[proxy.name]:
        new = new.replace("VALUE", client.certificates.header(proxy.header, SHOP))
        with proxy.start(service, (pattern, new)):
            for name, expected in outcomes.items():
                outcome = CHECKS[name].through(client, proxy.port)
                report(f"{proxy.name}, broken: {what}", name, expected, outcome)
                if outcome != CHECKS[name].expected:
                    noticed.add(name)
    return noticed


def check_open_service(header, client):
    """A service that believes every address: the header that it takes is believed, as the check must notice."""
    value = client.certificates.header(header, SHOP)
    report("service, broken: every address is a proxy", f"{header}, sent past the proxy", SHOP,
           client.directly({header: value}))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        certificates = Certificates(place)
        demo = Demo(pathlib.Path(sys.argv[1]).resolve(), place, certificates)
        client = Client(demo, certificates)
        proxies = [Nginx(place, certificates, "operations/fleet.md"), Nginx(place, certificates, "install.md"),
                   HAProxy(place, certificates, "operations/fleet.md")]
        for header in HEADERS:
            with demo.serve(header):
                behind = [proxy for proxy in proxies if proxy.header == header]
                for proxy in behind:
                    check(proxy, demo.port, client)
                check_directly(header, client)
                noticed = set().union(*(check_breaks(proxy, demo.port, client) for proxy in behind))
                unnoticed = sorted(set(CHECKS) - noticed)
                report(behind[0].program, "checks that no broken configuration failed", "none", ", ".join(unnoticed) or "none")
            with demo.serve(header, "127.0.0.0/8"):
                check_open_service(header, client)
    print(f"client certificates: {count} checks, {failures} failures")
    sys.exit(1 if failures else 0)


main()
