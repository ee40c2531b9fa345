// SPDX-License-Identifier: Apache-2.0
import Configuration
import Testing

/// Where a provider may be asked: an answer of the provider must not lead the service into its own network.
struct ProviderAddressTests {
    static let document = "https://login.example.com/.well-known/openid-configuration"

    @Test(arguments: [
        "https://login.example.com/jwks", "https://keys.example.net:8443/jwks", "https://192.0.2.1/jwks",
        "https://[2606:4700::1111]/jwks", "https://172.32.0.1/jwks", "https://100.128.0.1/jwks",
    ])
    func `a discovery document may name an address of the internet`(url: String) {
        #expect(ProviderAddress.isAllowed(url, namedBy: Self.document))
    }

    @Test(arguments: [
        "http://login.example.com/jwks", "http://127.0.0.1/jwks", "http://localhost:9200/jwks", "http://[::1]/jwks",
        "https://127.0.0.1/jwks", "https://127.9.9.9/jwks", "https://localhost/jwks", "https://db.localhost/jwks",
        "https://0.0.0.0/jwks", "https://10.0.0.1/jwks", "https://100.64.0.1/jwks", "https://169.254.169.254/jwks",
        "https://172.16.0.1/jwks", "https://172.31.255.255/jwks", "https://192.168.1.1/jwks",
        "https://224.0.0.1/jwks", "https://[::1]/jwks", "https://[::]/jwks", "https://[fd00::1]/jwks",
        "https://[fe80::1]/jwks", "https://[::ffff:10.0.0.1]/jwks", "https://[64:ff9b::a00:1]/jwks",
        "https://[2002:a00:1::]/jwks", "https://2130706433/jwks", "https://0x7f000001/jwks", "https://127.1/jwks",
        "https://10.0.0.0x1/jwks", "file:///etc/passwd", "ftp://login.example.com/jwks", "/jwks", "",
        "https://login.example.com@10.0.0.1/jwks",
    ])
    func `a discovery document names no address of a private network`(url: String) {
        #expect(!ProviderAddress.isAllowed(url, namedBy: Self.document))
    }

    @Test(arguments: [
        ("https://10.0.0.7/.well-known/openid-configuration", "https://10.0.0.8/jwks", true),
        ("http://127.0.0.1:8080/.well-known/openid-configuration", "http://127.0.0.1:8080/jwks", true),
        ("http://localhost:8080/.well-known/openid-configuration", "http://10.0.0.8/jwks", false),
    ])
    func `a provider on a private network names addresses there`(document: String, url: String, isAllowed: Bool) {
        #expect(ProviderAddress.isAllowed(url, namedBy: document) == isAllowed)
    }

    @Test(arguments: [
        ("https://login.example.com/", true), ("https://10.0.0.1/", true), ("http://127.0.0.1:8080", true),
        ("http://[::1]/", true), ("http://localhost/", true), ("http://login.example.com/", false),
        ("http://10.0.0.1/", false), ("http://127.0.0.1.example.com/", false), ("http://localhost.example.com/", false),
    ])
    func `the keys file names https, or this machine`(url: String, isAllowed: Bool) {
        #expect(ProviderAddress.isAllowed(url) == isAllowed)
    }
}
