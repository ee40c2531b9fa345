# SPDX-License-Identifier: Apache-2.0
"""What is tried and what must come of it, and how the configuration is broken so that each check fails."""
import dataclasses

HEADERS = ("Client-Cert", "X-SSL-Client-Cert")
SHOP, BATCH = "web-backend", "batch-backend"
UNKNOWN, REFUSED = "401 unauthenticated", "400 client-certificate-refused"


@dataclasses.dataclass
class Check:
    """A request with the certificate of that name, and with headers that claim to be of another."""
    what: str
    expected: str
    certificate: str = None
    forged: str = None
    resumes: bool = False

    def headers(self, certificates):
        return {self.forged: certificates.header(self.forged, SHOP)} if self.forged else {}

    def through(self, client, port):
        return client.through(port, self.certificate, self.headers(client.certificates), self.resumes)


# An expected value is the caller that the audit log names, or status and problem.
THROUGH = [
    Check("registered certificate", SHOP, SHOP),
    Check("registered certificate, self-signed", BATCH, BATCH),
    Check("registered certificate, in a resumed TLS session", SHOP, SHOP, resumes=True),
    Check("registered certificate without its key", "refused: TLSV1_ALERT_DECRYPT_ERROR", "stolen"),
    Check("other certificate of the same CA", UNKNOWN, "other"),
    Check("no certificate", UNKNOWN),
    *(Check(f"{what}, and a forged {header}", expected, certificate, header) for header in HEADERS
      for what, expected, certificate in (("no certificate", UNKNOWN, None), ("other certificate", UNKNOWN, "other"),
                                          ("another registered certificate", BATCH, BATCH)))]
DIRECTLY = [Check(f"{header}, sent past the proxy", REFUSED, forged=header) for header in HEADERS]


def forged(header, outcome, *certificates):
    return {f"{name}, and a forged {header}": outcome for name in certificates}


NONE, OTHER, ANOTHER = "no certificate", "other certificate", "another registered certificate"
PASSES_ALWAYS = {"other certificate of the same CA": SHOP, NONE: SHOP, **forged(HEADERS[0], SHOP, NONE, OTHER, ANOTHER),
                 **forged(HEADERS[1], SHOP, NONE, OTHER, ANOTHER)}
NO_CERTIFICATE_COMES = {"registered certificate": UNKNOWN, "registered certificate, in a resumed TLS session": UNKNOWN,
                        "registered certificate, self-signed": UNKNOWN, "registered certificate without its key": UNKNOWN}
# For each proxy: what is broken, a pattern in its configuration, its replacement, and the results of the checks then.
# VALUE is the registered certificate as the header has it.
BREAKS = {
    "nginx of install.md": [
        ("nothing is repeated in the location", r"(location [^{]*{\n)(?:proxy_set_header \S*Client-Cert .*\n){2}", r"\1",
         {"registered certificate": UNKNOWN, **forged(HEADERS[0], REFUSED, NONE), **forged(HEADERS[1], SHOP, NONE)}),
    ],
    "nginx of operations/fleet.md": [
        ("no certificate is asked for", r"^ssl_verify_client .*\n", "", NO_CERTIFICATE_COMES),
        ("X-SSL-Client-Cert is not set", r"^proxy_set_header X-SSL-.*\n", "",
         {"registered certificate": UNKNOWN, **forged(HEADERS[1], SHOP, NONE, OTHER, ANOTHER)}),
        ("Client-Cert is not deleted", r"^proxy_set_header Client-Cert .*\n", "",
         forged(HEADERS[0], REFUSED, NONE, OTHER, ANOTHER)),
        ("the same certificate is always set", r"\$ssl_client_escaped_cert", "VALUE", PASSES_ALWAYS),
    ],
    "haproxy of operations/fleet.md": [
        ("no certificate is asked for", r" ca-file .*$", "", NO_CERTIFICATE_COMES),
        ("certificates of other issuers are refused", r" ca-ignore-err .*$", "",
         {"registered certificate, self-signed": "refused: TLSV1_ALERT_UNKNOWN_CA"}),
        ("X-SSL-Client-Cert is not deleted", r"^ *http-request del-header X-SSL-.*\n", "",
         forged(HEADERS[1], REFUSED, NONE, OTHER, ANOTHER)),
        ("Client-Cert is not deleted", r"^ *http-request del-header Client-Cert\n", "", forged(HEADERS[0], SHOP, NONE)),
        ("Client-Cert is neither deleted nor set", r"^ *http-request del-header Client-Cert\n.*\n", "",
         {"registered certificate": UNKNOWN, **forged(HEADERS[0], SHOP, NONE, OTHER, ANOTHER)}),
        ("Client-Cert is set without a certificate too", r" if { ssl_c_used }$", "", {NONE: REFUSED}),
        ("certificates of resumed sessions are left out", r"ssl_c_used", "ssl_fc_has_crt",
         {"registered certificate, in a resumed TLS session": UNKNOWN}),
        ("the same certificate is always set", r":%.*$", "VALUE", PASSES_ALWAYS),
    ],
}
