# SPDX-License-Identifier: Apache-2.0
"""A receiver of syslog over TLS (RFC 5425) that can be rude, and writes down what it took.

Usage: syslog_receiver.py PORT PORT_FILE RECORD_FILE MODE_FILE CERTIFICATE KEY [CLIENT_CA]
MODE_FILE says what a new connection meets: "good"; "slow" (pauses before each message); "reset" (takes some, and resets
the connection with the rest unread); "close" (takes some, and closes in order); "hang" (reads nothing).
Each message is parsed by RFC 5424's own grammar and is a line of RECORD_FILE; one that does not parse is a line "fault".
"""
import json
import os
import re
import socket
import ssl
import struct
import sys
import threading
import time

port, port_file, record_file, mode_file, certificate, key, *client_ca = sys.argv[1:]
record = open(record_file, "a", encoding="utf-8")
lock = threading.Lock()

# Section 6 of RFC 5424, rule by rule.
NAME = rb'[\x21\x23-\x3c\x3e-\x5c\x5e-\x7e]{1,32}'
VALUE = rb'(?:[^"\\\]]|\\["\\\]])*'
PARAMETER = rb' (' + NAME + rb')="(' + VALUE + rb')"'
ELEMENT = rb'\[' + NAME + rb'(?: ' + NAME + rb'="' + VALUE + rb'")*\]'
TIME = rb'\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)'
MESSAGE = re.compile(
    rb'<(0|[1-9]\d{0,2})>([1-9]\d{0,2}) (-|' + TIME + rb') ([\x21-\x7e]{1,255}) ([\x21-\x7e]{1,48}) '
    rb'([\x21-\x7e]{1,128}) ([\x21-\x7e]{1,32}) (-|(?:' + ELEMENT + rb')+)(?: (.*))?', re.DOTALL)


def parse(message):
    match = MESSAGE.fullmatch(message)
    if not match or int(match[1]) > 191:
        return {"fault": message.decode("utf-8", "replace")}
    text = match[9] or b""
    if not text.startswith(b"\xef\xbb\xbf"):
        return {"fault": "no byte order mark"}
    data = {name.decode(): re.sub(rb'\\(["\\\]])', rb'\1', value).decode()
            for name, value in re.findall(PARAMETER, match[8])}
    return {"priority": int(match[1]), "time": match[3].decode(), "host": match[4].decode(),
            "application": match[5].decode(), "process": match[6].decode(), "event": match[7].decode(),
            "index": int(data.get("index", -1)), "categories": data.get("categories", ""), "hash": data.get("hash", ""),
            "text": text[3:].decode()}


def take(message):
    line = parse(message)
    with lock:
        record.write(json.dumps(line) + "\n")
        record.flush()


def frames(connection):
    """The messages of a stream, by the count of bytes before each."""
    buffer = b""
    while True:
        head, space, rest = buffer.partition(b" ")
        if space:
            if not re.fullmatch(rb"[1-9]\d{0,8}", head):
                take(b"a bad length: " + head[:100])
                return
            if len(rest) >= int(head):
                yield rest[:int(head)]
                buffer = rest[int(head):]
                continue
        piece = connection.recv(4096)
        if not piece:
            return
        buffer += piece


def serve(plain):
    with open(mode_file, encoding="utf-8") as file:
        mode = file.read().strip()
    try:
        connection = context.wrap_socket(plain, server_side=True)
        if mode == "hang":
            time.sleep(600)
        for count, message in enumerate(frames(connection)):
            if mode == "slow":
                time.sleep(0.05)
            if mode in ("reset", "close") and count == 3:
                if mode == "close":
                    connection.unwrap()
                else:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                break
            take(message)
        connection.close()
    except OSError as error:
        print(mode, error, file=sys.stderr, flush=True)
        plain.close()


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
if client_ca:
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(client_ca[0])
listener = socket.create_server(("127.0.0.1", int(port)))
with open(port_file + ".new", "w", encoding="utf-8") as file:
    file.write(str(listener.getsockname()[1]))
os.rename(port_file + ".new", port_file)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
