// SPDX-License-Identifier: Apache-2.0
import HTTP
import Testing

@Suite("Origins and targets")
struct OriginTests {
    @Test(
        arguments: [
            ("https://api.storekit.apple.com", "https://api.storekit.apple.com", 443),
            ("https://API.example:443", "https://api.example", 443),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080", 8080),
            ("https://[::1]:8443", "https://[::1]:8443", 8443),
            ("http://localhost", "http://localhost", 80),
        ] as [(String, String, UInt16)]
    )
    func `reads an origin`(text: String, canonical: String, port: UInt16) throws {
        let origin = try Origin(parsing: text)
        #expect(origin.description == canonical)
        #expect(origin.port == port)
        #expect(try Origin(parsing: canonical) == origin)
    }

    @Test(
        arguments: [
            ("", .schemeNotHTTP), ("ftp://a", .schemeNotHTTP), ("HTTPS://a", .schemeNotHTTP),
            ("a.example", .schemeNotHTTP),
            ("https://", .hostInvalid), ("https://user@a", .hostInvalid), ("https://a b", .hostInvalid),
            ("https://a..b", .hostInvalid), ("https://-a", .hostInvalid), ("https://ä", .hostInvalid),
            ("https://a_b", .hostInvalid), ("https://[::1", .hostInvalid), ("https://[]", .hostInvalid),
            ("https://[::1%25eth0]", .hostInvalid), ("https://user:pass@a", .portInvalid), ("https://a:", .portInvalid),
            ("https://a:0", .portInvalid), ("https://a:65536", .portInvalid), ("https://a:+1", .portInvalid),
            ("https://a:443x", .portInvalid), ("https://[::1]x", .portInvalid), ("https://a/", .somethingAfterPort),
            ("https://a?x", .somethingAfterPort), ("https://a#x", .somethingAfterPort), ("https://a\\b", .hostInvalid),
        ] as [(String, OriginError)]
    )
    func `refuses what is no origin`(text: String, error: OriginError) {
        #expect(throws: error) { try Origin(parsing: text) }
    }

    @Test(arguments: [
        ("http://ocsp.example/ocsp03-g6", "http://ocsp.example", "/ocsp03-g6"),
        ("http://ocsp.example", "http://ocsp.example", "/"),
        ("https://a:1?x=%2F", "https://a:1", "/?x=%2F"),
    ])
    func `takes a URL apart`(url: String, origin: String, target: String) throws {
        let request = try ClientRequest(.post, url: url)
        #expect(request.origin.description == origin)
        #expect(request.target == target)
    }

    @Test(arguments: [
        "http://a/#f", "http://a/ b", "http://a/%2", "http://a/%zz", "http://a/ü", "http://u@a/", "ldap://a/",
        "http://a/\r\nX: 1",
    ])
    func `refuses a URL that is more than that`(url: String) {
        #expect { try ClientRequest(.get, url: url) } throws: { ($0 as? ClientError)?.label == "request-invalid" }
    }

    @Test(arguments: [[".."], ["a", "."], [""], ["a", "", "b"]])
    func `refuses segments that would change the path`(path: [String]) throws {
        let origin = try Origin(parsing: "https://a")
        #expect { try ClientRequest(.get, origin, path: path) } throws: {
            ($0 as? ClientError)?.label == "request-invalid"
        }
    }

    @Test(arguments: [("X\r\nY", "1"), ("X", "1\r\nY: 2"), ("", "1"), ("X Y", "1"), ("X", "\u{0}"), ("X:", "1")])
    func `refuses fields that would break the head apart`(name: String, value: String) throws {
        var headers = HeaderFields()
        headers.append(name, value)
        #expect { try ClientRequest(.get, url: "https://a/", headers: headers) } throws: {
            ($0 as? ClientError)?.label == "request-invalid"
        }
    }
}
