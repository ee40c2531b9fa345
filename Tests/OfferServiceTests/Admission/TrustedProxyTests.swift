// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferService
import TestSupport
import Testing

/// The client address of a request: the connection's peer, or the address that a trusted proxy names.
@Suite(.overSQLite) struct TrustedProxyTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let from: String
        let fields: [(String, String)]
        /// The address that the request counts for.
        let counted: String

        init(_ description: String, from: String, _ fields: [(String, String)], counted: String) {
            (testDescription, self.from, self.fields, self.counted) = (description, from, fields, counted)
        }
    }

    static let rows = [
        Row("no proxy", from: "192.0.2.1", [("X-Forwarded-For", "203.0.113.9")], counted: "192.0.2.1"),
        Row("a proxy", from: "10.0.0.7", [("X-Forwarded-For", "203.0.113.9")], counted: "203.0.113.9"),
        Row("a proxy that says nothing", from: "10.0.0.7", [], counted: "10.0.0.7"),
        Row(
            "what the client made up comes first and does not count",
            from: "10.0.0.7",
            [("X-Forwarded-For", "198.51.100.1, 203.0.113.9")],
            counted: "203.0.113.9"
        ),
        Row(
            "two proxies",
            from: "10.0.0.7",
            [("X-Forwarded-For", "198.51.100.1, 203.0.113.9, 10.9.9.9")],
            counted: "203.0.113.9"
        ),
        Row(
            "fields that are repeated are one list",
            from: "10.0.0.7",
            [("X-Forwarded-For", "198.51.100.1"), ("X-Forwarded-For", "203.0.113.9")],
            counted: "203.0.113.9"
        ),
        Row(
            "the standard's field",
            from: "fd00::1",
            [("Forwarded", #"for=198.51.100.1, proto=https;For="[2001:db8:7::1]:4711""#)],
            counted: "2001:db8:7::1"
        ),
        Row(
            "a semicolon in quotes, behind which the client made up an address",
            from: "10.0.0.7",
            [("Forwarded", #"by="a;for=198.51.100.1;b";for=203.0.113.9"#)],
            counted: "10.0.0.7"
        ),
        Row(
            "an element that is for two",
            from: "10.0.0.7",
            [("Forwarded", "for=198.51.100.1;for=203.0.113.9")],
            counted: "10.0.0.7"
        ),
        Row(
            "both fields, of one client",
            from: "10.0.0.7",
            [("X-Forwarded-For", "203.0.113.9"), ("Forwarded", "for=203.0.113.9:80")],
            counted: "203.0.113.9"
        ),
        Row(
            "a field that the proxy wrote, and one that the client made up",
            from: "10.0.0.7",
            [("X-Forwarded-For", "203.0.113.9"), ("Forwarded", "for=198.51.100.1")],
            counted: "10.0.0.7"
        ),
        Row(
            "an IPv4 address that IPv6 wraps",
            from: "10.0.0.7",
            [("X-Forwarded-For", "::ffff:203.0.113.9, ::ffff:10.9.9.9")],
            counted: "203.0.113.9"
        ),
        Row("a name that is no address", from: "10.0.0.7", [("Forwarded", "for=_hidden")], counted: "10.0.0.7"),
        Row(
            "an IPv6 address of its own",
            from: "10.0.0.7",
            [("X-Forwarded-For", "2001:db8:7::1")],
            counted: "2001:db8:7::1"
        ),
    ]

    @Test(arguments: rows)
    func `counts the address of the connection, or the one that a trusted proxy names`(row: Row) async throws {
        var files = TestFiles()
        files.settings = [.trustedProxy: "10.0.0.0/8,fd00::/8", .appRatePerAddress: "1/min:1"]
        try await withService(.inProcess, files) { service async throws in
            let call = service.call(
                as: "app",
                #"{"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "open", "anonymousId": "device"}"#
            )
            var forwarded = call.from(row.from)
            for (name, value) in row.fields { forwarded = forwarded.with(name, value) }
            #expect(try await service.send(forwarded).status == 403)
            #expect(try await service.send(forwarded).status == 429)
            #expect(try await service.send(call.from(row.counted)).status == 429)
            for other in ["192.0.2.1", "10.0.0.7", "203.0.113.9", "198.51.100.1"] where other != row.counted {
                #expect(try await service.send(call.from(other)).status == 403, "\(other)")
            }
        }
    }

    @Test(arguments: ["", "10.0.0.0/33", "10.0.0", "fd00::/129", "proxy.example", "10.0.0.1,", "10.0.0.0/8/8"])
    func `a list of proxies has addresses and networks alone`(text: String) {
        #expect(TrustedProxies(text) == nil)
    }
}
