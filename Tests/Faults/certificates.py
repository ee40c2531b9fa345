# SPDX-License-Identifier: Apache-2.0
"""An authority of our own, and what it certifies, made when it is asked for."""
import datetime
import os

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Authority:
    """Its own certificate is `NAME.pem` in a folder; others are NAME.pem with NAME.key beside it."""

    def __init__(self, folder: str, name: str) -> None:
        self._folder, self._name = folder, _name(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.path = os.path.join(folder, f"{name}.pem")
        builder = self._builder(self._name, self._key.public_key(), -1, 30)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self._write(self.path, builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))

    def _builder(self, name: x509.Name, key: ec.EllipticCurvePublicKey, first: int,
                 last: int) -> x509.CertificateBuilder:
        now = datetime.datetime.utcnow()
        return (x509.CertificateBuilder().subject_name(name).issuer_name(self._name).public_key(key)
                .serial_number(x509.random_serial_number())
                .not_valid_before(now + datetime.timedelta(days=first))
                .not_valid_after(now + datetime.timedelta(days=last)))

    @staticmethod
    def _write(path: str, content: bytes) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)

    def certify(self, file: str, name: str, first: int = -1, last: int = 30) -> tuple[str, str]:
        """Certifies a server or a user, for days counted from now; gives the paths of certificate and key."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(_name(name), key.public_key(), first, last)
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        paths = (os.path.join(self._folder, f"{file}.pem"), os.path.join(self._folder, f"{file}.key"))
        self._write(paths[0], builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))
        self._write(paths[1], key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return paths
