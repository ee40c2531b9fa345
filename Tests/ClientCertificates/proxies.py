# SPDX-License-Identifier: Apache-2.0
"""nginx and HAProxy with the lines of docs/callers.md in a configuration of another page, on ports of their own."""
import os
import pathlib
import re
import socket
import subprocess
import sys

from certificates import HOST
from service import Process, free_port

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# What a program of Debian's is unpacked from where it is not installed.
PACKAGES = {"haproxy": ["haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"], "nginx": ["nginx"]}


def block(page, language):
    """The only block of a page in that language, without the indentation of a list."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", (ROOT / "docs" / page).read_text(), re.S | re.M)
    if len(found) != 1:
        sys.exit(f"docs/{page} has {len(found)} blocks for {language}, and not 1.")
    indentation, text = found[0]
    return re.sub(rf"^{indentation}", "", text, flags=re.M)


def replaced(pattern, new, text):
    """One place changed; a page that says something else is not what is tried."""
    changed, places = re.subn(pattern, new, text, flags=re.M)
    if places != 1:
        sys.exit(f"{places} places are like {pattern}, and not 1, in:\n{text}")
    return changed


class Proxy:
    """A proxy in front of the service; `page` has the configuration to which the lines of docs/callers.md are added."""

    program = header = ""

    def __init__(self, place, certificates, page):
        self.place, self.certificates, self.page = place / self.program, certificates, page
        self.place.mkdir(exist_ok=True)
        self.lines, self.port = block("callers.md", self.program), 0
        found = subprocess.run([ROOT / "Scripts/debian-program", self.program, *PACKAGES[self.program]], check=True,
                               stdout=subprocess.PIPE, text=True)
        self.path = pathlib.Path(found.stdout.strip())

    @property
    def name(self):
        return f"{self.program} of {self.page}"

    def start(self, service, change=None):
        """Runs in front of the service's port; a change is a pattern in the configuration, and what takes its place."""
        self.port = free_port()
        # Each page has its own address of the service; one instance is enough.
        base = re.sub(r"^ *server .*10\.0\.0\.1[23]:8080.*\n", "", block(self.page, self.program), flags=re.M)
        base = replaced(r"\b(10\.0\.0\.11|127\.0\.0\.1):8080\b", f"127.0.0.1:{service}", base)
        file = self.place / "configuration"
        text = self.configuration(base, self.lines)
        file.write_text(replaced(*change, text) if change else text)
        # Unpacked, its libraries are beside it.
        libraries = self.path.parent.parent / "lib" / f"{os.uname().machine}-linux-gnu"
        environment = dict(os.environ, LD_LIBRARY_PATH=str(libraries)) if ".build" in self.path.parts else None
        return Process([self.path, *self.words(file)], self.place / "output", self.listens, environment)

    def listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


class HAProxy(Proxy):
    program, header = "haproxy", "Client-Cert"

    def words(self, file):
        return ["-db", "-f", file]

    def configuration(self, base, lines):
        """The page's lines in place of the line `bind`, which they have too."""
        pem = self.place / "proxy.pem"
        pem.write_text(self.certificates.pem(HOST).read_text() + self.certificates.key(HOST).read_text())
        lines = replaced(r"bind :443 ssl crt \S+", f"bind 127.0.0.1:{self.port} ssl crt {pem}", lines)
        lines = re.sub(r"ca-file \S+", f"ca-file {self.certificates.pem('ca')}", lines)
        return replaced(r"^ +bind .*\n", re.sub("^", "    ", lines.rstrip(), flags=re.M) + "\n", base)


class Nginx(Proxy):
    program, header = "nginx", "X-SSL-Client-Cert"

    def words(self, file):
        # The compiled-in log is not ours to write to; it is named again for what happens before the file is read.
        return ["-c", file, "-e", self.place / "output"]

    def configuration(self, base, lines):
        """All lines in the server's block, and those that it would not inherit in a location with lines of its own."""
        files = f"ssl_certificate {self.certificates.pem(HOST)};\nssl_certificate_key {self.certificates.key(HOST)};\n"
        base = re.sub(r" *ssl_certificate(_key)? [^;]+;\n", "", base)
        base = replaced("listen 443 ssl;\n", f"listen 127.0.0.1:{self.port} ssl;\n{files}{lines}", base)
        again = "".join(re.findall(r"^proxy_set_header .*\n", lines, re.M))
        base = re.sub(r"(location [^{]*{\n)([^}]*proxy_set_header)", lambda found: found[1] + again + found[2], base)
        temporary = "".join(f"{name}_temp_path {self.place}/{name};\n"
                            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        # A worker would survive its master's sudden end.
        return (f"daemon off;\nmaster_process off;\npid {self.place}/nginx.pid;\nerror_log {self.place}/output;\n"
                f"events {{}}\nhttp {{\naccess_log off;\n{temporary}{base}}}\n")
