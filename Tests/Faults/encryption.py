# SPDX-License-Identifier: Apache-2.0
"""TLS between service and PostgreSQL: which peers are trusted or refused, with which words, where passwords show."""
import os
import subprocess
import time
from collections.abc import Iterator, Mapping

from certificates import Authority
from cluster import Cluster, programs
from place import Failure, Place, eventually, in_environment
from trial import Row, Setup, recovers, timed

HOST = "db.example.com"


class Bench:
    """A server that takes connections by TLS alone, from the role `offers`, by password or certificate."""

    def __init__(self, setup: Setup) -> None:
        self.cluster = Cluster.serving("offers")
        self.cluster.sql(f"CREATE ROLE offers LOGIN PASSWORD '{self.cluster.password}'")
        self.cluster.sql("ALTER DATABASE offers OWNER TO offers")
        self.place = Place(setup.binary, self.cluster.url("offers").replace("//postgres:", "//offers:"))
        # The checker comes by another way, whatever the service is refused.
        self.place.database = self.cluster.url("offers")
        self.place.checker = self.place.fresh_checker()
        self.ours, self.others = (Authority(self.place.folder, name) for name in ("ours", "others"))
        self.present(self.ours)
        self.admit("scram-sha-256")

    def present(self, authority: Authority, name: str = HOST, **days: int) -> None:
        """Gives the server a certificate."""
        for path, kind in zip(authority.certify("server", name, **days), ("crt", "key")):
            with open(path, "rb") as file:
                self.cluster.put(f"server.{kind}", file.read())
        self.cluster.set("ssl", "on")

    def admit(self, method: str, kind: str = "hostssl") -> None:
        self.cluster.put("pg_hba.conf", (f"{kind} all offers 127.0.0.1/32 {method}\n"
                                         "host all postgres 127.0.0.1/32 scram-sha-256\n").encode())
        self.cluster.set("ssl_ca_file", self.cluster.put("clients.crt", self._text(self.ours.path)))
        time.sleep(0.2)

    @staticmethod
    def _text(path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def url(self, authority: Authority | None = None, password: str = "", **parameters: str) -> str:
        root = (authority or self.ours).path
        words = {"hostaddr": "127.0.0.1", "sslmode": "verify-full", "sslrootcert": root, **parameters}
        query = "&".join(f"{name}={value}" for name, value in words.items())
        return f"postgres://offers{':' if password else ''}{password}@{HOST}:{self.cluster.port}/offers?{query}"

    def certificate_of(self, user: str, authority: Authority | None = None) -> dict[str, str]:
        return dict(zip(("sslcert", "sslkey"), (authority or self.ours).certify(user, user)))

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *unused: object) -> None:
        self.place.close()
        self.cluster.close()


def shows(bench: Bench, text: str) -> list[str]:
    return ["it shows the password"] if bench.cluster.password in text else []


def works(row: Row, bench: Bench, url: str, environment: Mapping[str, str] | None = None) -> None:
    """The service signs, and each of its connections is encrypted."""
    place = bench.place
    service = place.start(database=url, environment=environment)
    load = place.load(connections=4, rate=100, patience=30)
    problems = recovers(place)
    found = bench.cluster.sql("SELECT DISTINCT ssl, version FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                              "WHERE application_name = 'offer-signer'")
    problems += [] if found == "t|TLSv1.3" else [f"connections are encrypted: {found!r}"]
    health = service.get("/health/ready")[1].decode()
    load.stop()
    problems += [] if service.stop() == 0 else ["it did not stop in order"]
    row.attempt(place, *problems, *shows(bench, service.log + health))


def refused(row: Row, bench: Bench, url: str, *words: str, environment: Mapping[str, str] | None = None) -> None:
    """Neither `check` nor `serve` goes on, and both say why."""
    place = bench.place
    service = place.start(database=url, waits=False, environment=environment)
    eventually("it ends or listens", lambda: not service.is_alive or service.is_listening, 60)
    service.kill()
    check = subprocess.run(
        [place.binary, "check", "--keys", place.path("demo/keys"), "--offers", place.path("demo/offers")],
        capture_output=True, text=True, timeout=60,
        env=dict(os.environ, **in_environment(url), **(environment or {})))
    problems = ["check finds nothing wrong"] if check.returncode == 0 else []
    problems += ["it listens"] if service.is_listening else []
    for where, text in (("serve", service.log), ("check", check.stderr)):
        problems += [f"{where} does not say {word!r}: {text[-300:]}" for word in words if word not in text]
        problems += shows(bench, text)
    row.attempt(place, *problems)


def believed(bench: Bench) -> Row:
    row = Row("TLS to PostgreSQL: verified, by password and by certificate")
    password = bench.cluster.password
    file = os.path.join(bench.place.folder, "pgpass")
    with open(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as pgpass:
        pgpass.write(f"{HOST}:*:offers:offers:{password}\n")
    works(row, bench, bench.url(), {"PGPASSFILE": file})
    works(row, bench, bench.url(passfile=file))
    works(row, bench, bench.url(), {"PGPASSWORD": password})
    works(row, bench, bench.url(password=password))
    bench.admit("cert")
    works(row, bench, bench.url(**bench.certificate_of("offers")))
    bench.admit("scram-sha-256")
    return row


def not_believed(bench: Bench) -> Row:
    row = Row("TLS to PostgreSQL: refused, and named in start and check")
    password = bench.cluster.password
    good = bench.url(password=password)
    refused(row, bench, bench.url(bench.others, password), "not issued by an authority of sslrootcert")
    bench.present(bench.others)
    refused(row, bench, good, "not issued by an authority of sslrootcert")
    bench.present(bench.ours, "other.example.com")
    refused(row, bench, good, "does not match host name", "other.example.com", HOST)
    bench.present(bench.ours, first=-9, last=-2)
    refused(row, bench, good, "or is not valid today")
    bench.present(bench.ours)
    refused(row, bench, bench.url(password=password, sslrootcert="/nowhere/ca.pem"), "/nowhere/ca.pem")
    refused(row, bench, bench.url(password=password, sslmode="disable"), "no encryption")
    refused(row, bench, bench.url(), "no password supplied")
    refused(row, bench, bench.url(password="another-secret"), "password authentication failed")
    bench.admit("cert")
    refused(row, bench, good, "requires a valid client certificate")
    refused(row, bench, bench.url(**bench.certificate_of("offers", bench.others)), "unknown ca")
    refused(row, bench, bench.url(**bench.certificate_of("somebody")), "certificate authentication failed")
    bench.admit("scram-sha-256", "host")
    bench.cluster.set("ssl", "off")
    time.sleep(0.2)
    refused(row, bench, good, "server does not support SSL")
    row.problems += shows(bench, bench.cluster.log())
    return row


def encrypted(setup: Setup) -> Iterator[Row]:
    if programs() is None:
        yield Row("TLS to PostgreSQL", skipped="not tried: postgresql is not installed")
        return
    with Bench(setup) as bench:
        for trial in (believed, not_believed):
            started = time.monotonic()
            try:
                yield timed(trial(bench), started)
            except Failure as failure:
                yield timed(Row(trial.__name__, 1, 0, problems=[str(failure)]), started)
