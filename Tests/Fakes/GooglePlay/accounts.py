# SPDX-License-Identifier: Apache-2.0
"""Service accounts: their keys, the apps they may act for, and the JSON key files of the kind Google hands out."""
import json
import os
import uuid
from dataclasses import dataclass, field

from cryptography.hazmat.primitives import serialization

from identities import rsa2048

TOKEN_URI = "https://oauth2.googleapis.com/token"


@dataclass
class ServiceAccount:
    email: str
    # The apps that it has rights for in the Play Console.
    package_names: set
    is_disabled: bool = False
    # Key id: public key.
    keys: dict = field(default_factory=dict)


class ServiceAccounts:
    """By their e-mail. Private keys are written into files of the folder and kept nowhere else."""

    def __init__(self, write):
        self._write = write
        self._by_email = {}

    def add(self, email, package_names):
        """An account without keys, or one that there was with other apps."""
        account = self._by_email.setdefault(email, ServiceAccount(email, set()))
        account.package_names = set(package_names)
        return account

    def find(self, email):
        return self._by_email.get(email) if isinstance(email, str) else None

    def get(self, email):
        """Raises ValueError."""
        if email not in self._by_email:
            raise ValueError(f"no service account {email!r}; there are {', '.join(self._by_email)}")
        return self._by_email[email]

    def add_key(self, email, changes, key=None):
        """Makes a key and writes its file; `changes` are members that differ (None: absent)."""
        key = key or rsa2048()
        key_id = uuid.uuid4().hex + "00000000"
        self.get(email).keys[key_id] = key.public_key()
        members = key_file(email, key_id, key)
        for name, value in changes.items():
            members.pop(name, None) if value is None else members.update({name: value})
        path = self._write(f"{key_id}.json", json.dumps(members, indent=2).encode() + b"\n", 0o600)
        return key_id, os.path.abspath(path)

    def delete_key(self, key_id):
        """Raises KeyError."""
        for account in self._by_email.values():
            if key_id in account.keys:
                del account.keys[key_id]
                return
        raise KeyError(key_id)


def key_file(email, key_id, key):
    """The members of the file that the Google Cloud console makes for a new key."""
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    project = email.partition("@")[2].partition(".")[0]
    return {
        "type": "service_account",
        "project_id": project,
        "private_key_id": key_id,
        "private_key": pem.decode(),
        "client_email": email,
        "client_id": "100000000000000000001",
        "auth_uri": "https://accounts.google.com/o/oauth2/auth",
        "token_uri": TOKEN_URI,
        "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
        "client_x509_cert_url": f"https://www.googleapis.com/robot/v1/metadata/x509/{email.replace('@', '%40')}",
        "universe_domain": "googleapis.com",
    }
