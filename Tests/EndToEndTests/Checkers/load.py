# SPDX-License-Identifier: Apache-2.0
"""Asks for signatures on several connections, over and over, until a file is there or --requests are sent.

Usage: load.py FOLDER --api-key FILE --deliveries FILE [--threads N] [--attempts N] [--requests N]

FOLDER/port holds the port, read again whenever a connection fails. FOLDER/stop ends the load, and so does the end of
its parent. Each customer asks --attempts times in all, on whichever connection. Each 200 answer is appended to
--deliveries as soon as it has come whole. Prints how many answers there were of each status, of each problem, and how many requests had no answer.
"""
import argparse
import collections
import http.client
import itertools
import json
import os
import threading
import time
import uuid

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--api-key", required=True)
parser.add_argument("--deliveries", required=True)
parser.add_argument("--threads", type=int, default=8)
parser.add_argument("--attempts", type=int, default=1)
parser.add_argument("--requests", type=int, default=1 << 40)
options = parser.parse_args()
parent = os.getppid()
with open(options.api_key, encoding="ascii") as file:
    authorization = f"Bearer {file.read()}"

numbers = itertools.count()
lock = threading.Lock()
counts = collections.Counter()
deliveries = open(options.deliveries, "a", encoding="utf-8")
run = uuid.uuid4().hex[:12]


def body(number):
    customer = number // options.attempts
    return json.dumps({
        "bundleId": "com.example.app", "productId": "com.example.pro.monthly", "offerId": "winback_3m",
        "appAccountToken": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{run}-{customer}")).upper(),
        "customerId": f"{run}-{customer}", "formats": ["v1", "jws"],
        "facts": {"status": "expired", "expiresAt": "2026-01-01T00:00:00Z",
                  "originalTransactionId": str(10 ** 15 + int(run[:8], 16) * 10 ** 7 + customer)}})


def count(name):
    with lock:
        counts[name] += 1


def deliver(customer, answer):
    with lock:
        deliveries.write(json.dumps({"customer": customer, "answer": answer}) + "\n")
        deliveries.flush()


def ask(connection, text):
    connection.request("POST", "/v1/app-store/promotional-offers/signatures", body=text, headers={
        "Authorization": authorization, "Content-Type": "application/json"})
    response = connection.getresponse()
    answer = json.loads(response.read())
    count(str(response.status))
    if response.status == 200:
        deliver(json.loads(text)["customerId"], answer)
    else:
        count(answer["type"])


def stopped():
    # A test that was ended leaves no file.
    return os.getppid() != parent or os.path.exists(os.path.join(options.folder, "stop"))


def work():
    connection = None
    while not stopped():
        number = next(numbers)
        if number >= options.requests:
            return
        try:
            if connection is None:
                with open(os.path.join(options.folder, "port"), encoding="ascii") as port:
                    connection = http.client.HTTPConnection("127.0.0.1", int(port.read()), timeout=60)
                connection.connect()
        except (OSError, ValueError):
            count("no connection")
            connection = None
            time.sleep(0.01)
            continue
        try:
            ask(connection, body(number))
        except (OSError, http.client.HTTPException, ValueError) as error:
            count("no answer")
            count(f"no answer: {type(error).__name__}")
            connection.close()
            connection = None


threads = [threading.Thread(target=work) for _ in range(options.threads)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(counts))
