# SPDX-License-Identifier: Apache-2.0
"""A CA, certificates of clients and of the proxy, and what clients forge with them. The openssl command makes all of them."""
import base64
import ssl
import subprocess
import urllib.parse

HOST = "offers.example.com"
# Certificates by name; those in REGISTERED have a caller of the same name.
OF_CA, SELF_SIGNED = ("web-backend", "other", HOST), ("batch-backend",)
REGISTERED = ("web-backend", "batch-backend")


def openssl(*arguments, **options):
    return subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, **options).stdout


class Certificates:
    """Files in a folder: `NAME.pem` and `NAME.key` for each certificate, and `ca.pem`."""

    def __init__(self, folder):
        self.folder = folder
        self._self_signed("ca")
        for name in SELF_SIGNED:
            self._self_signed(name)
        for name in OF_CA:
            self._of_ca(name)
        self._without_key()

    def pem(self, name):
        return self.folder / f"{name}.pem"

    def key(self, name):
        return self.folder / f"{name}.key"

    def _request(self, name, *more):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                "-keyout", self.key(name), *more)

    def _self_signed(self, name):
        self._request(name, "-x509", "-days", "2", "-out", self.pem(name))

    def _of_ca(self, name):
        extensions = self.folder / "extensions"
        extensions.write_text(f"basicConstraints=CA:FALSE\nsubjectAltName=DNS:{name}\n")
        self._request(name, "-out", self.folder / "request")
        openssl("x509", "-req", "-in", self.folder / "request", "-CA", self.pem("ca"), "-CAkey", self.key("ca"),
                "-days", "2", "-extfile", extensions, "-out", self.pem(name))

    def _without_key(self):
        """The certificate of web-backend, beside a file with the private key of another and the public key of this one.

        TLS libraries compare only the public keys before they sign with such a file, so the proxy must find it out.
        """
        own = openssl("ec", "-in", self.key("other"), "-outform", "DER")
        public = openssl("x509", "-in", self.pem("web-backend"), "-noout", "-pubkey")
        point = openssl("pkey", "-pubin", "-outform", "DER", input=public)[-65:]
        mixed = base64.encodebytes(own[:-65] + point).decode()
        self.key("stolen").write_text(f"-----BEGIN EC PRIVATE KEY-----\n{mixed}-----END EC PRIVATE KEY-----\n")
        self.pem("stolen").write_bytes(self.pem("web-backend").read_bytes())

    def header(self, header, name):
        """The value with which a proxy passes on the certificate in that header."""
        text = self.pem(name).read_text()
        if header == "X-SSL-Client-Cert":
            return urllib.parse.quote(text, safe="")
        return f":{base64.b64encode(ssl.PEM_cert_to_DER_cert(text)).decode()}:"
