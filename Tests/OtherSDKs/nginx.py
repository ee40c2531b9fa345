# SPDX-License-Identifier: Apache-2.0
"""nginx with the configuration of a document, on ports of its own."""
import pathlib
import re
import socket
import subprocess
import sys
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def program(root):
    """Debian's nginx, unpacked where it is not installed."""
    found = subprocess.run([root / "Scripts/debian-program", "nginx", "nginx"], check=True, stdout=subprocess.PIPE, text=True)
    return found.stdout.strip()


class Nginx:
    """Takes the blocks of a page as they stand, but for ports, TLS and the vendor's address."""

    def __init__(self, root, place, page, service, vendor):
        self.program, self.place, self.ports = program(root), place, {}
        servers = [self.adapted(block, service, vendor) for block in re.findall(r"^```nginx\n(.*?)^```", page, re.S | re.M)]
        if len(servers) != 2:
            sys.exit(f"The page has {len(servers)} blocks for nginx, and not 2.")
        for name in ("body", "proxy", "fastcgi", "uwsgi", "scgi"):
            (place / name).mkdir()
        temporary = "\n".join(f"{name}_temp_path {place}/{folder};" for name, folder in (
            ("client_body", "body"), ("proxy", "proxy"), ("fastcgi", "fastcgi"), ("uwsgi", "uwsgi"), ("scgi", "scgi")))
        user = "user root;\n" if pathlib.Path("/proc/self").owner() == "root" else ""
        (place / "nginx.conf").write_text(
            f"{user}daemon off;\nworker_processes 1;\npid {place}/nginx.pid;\nerror_log {place}/nginx.log;\n"
            f"events {{}}\nhttp {{\naccess_log off;\n{temporary}\n" + "\n".join(servers) + "}\n")

    def adapted(self, block, service, vendor):
        name = re.search(r"server_name (\S+);", block)[1]
        self.ports[name] = free_port()
        block = block.replace("listen 443 ssl;", f"listen 127.0.0.1:{self.ports[name]};")
        block = block.replace("http://127.0.0.1:8080", f"http://127.0.0.1:{service}")
        block = re.sub(r" *ssl_certificate(_key)? [^;]+;\n", "", block)
        block = re.sub(r"set \$vendor [^;]+;", f"set $vendor 127.0.0.1:{vendor};", block)
        return block.replace("proxy_pass https://$vendor;", "proxy_pass http://$vendor;")

    def __enter__(self):
        # The compiled-in log is not ours to write to; it is named again for what happens before the file is read.
        self.process = subprocess.Popen([self.program, "-c", self.place / "nginx.conf", "-e", self.place / "nginx.log"])
        for _ in range(100):
            if all(self.listens(port) for port in self.ports.values()):
                return self
            time.sleep(0.1)
        sys.exit(f"nginx does not listen:\n{(self.place / 'nginx.log').read_text()}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)

    @staticmethod
    def listens(port):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0
