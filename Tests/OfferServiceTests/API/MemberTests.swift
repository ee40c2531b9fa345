// SPDX-License-Identifier: Apache-2.0
import Testing

/// What a request's body may hold, member by member; each refusal says where.
struct MemberTests {
    /// A body that is refused, and where the answer says that it is wrong.
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let body: String
        let pointers: [String]
        let hint: String?

        init(_ name: String, _ body: String, at pointers: String..., saying hint: String? = nil) {
            self.name = name
            self.body = body
            self.pointers = pointers
            self.hint = hint
        }

        /// A good body in which one member has another value, or which has one more.
        init(_ member: String, of value: String, at pointer: String? = nil, saying hint: String? = nil) {
            name = "\(member): \(value)"
            pointers = [pointer ?? "/\(member)"]
            self.hint = hint
            let required = ["bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "open"]
            var members = required.filter { $0.key != member }.map { #""\#($0.key)": "\#($0.value)""# }
            members.append(#""\#(member)": \#(value)"#)
            body = "{" + members.joined(separator: ", ") + "}"
        }

        var testDescription: String { name }
    }

    /// U+2063 INVISIBLE SEPARATOR, alone and with a combining mark, which hides it from comparisons of characters.
    private static let separators = ["\u{2063}", "\u{2063}\u{0301}", #"\u2063"#, #"\u2063\u0301"#]

    static let separatorRows: [Row] = separators.flatMap { separator in
        [
            Row("bundleId", of: #""com.example\#(separator).app""#),
            Row("productId", of: #""pro\#(separator)monthly""#),
            Row("offerId", of: #""open\#(separator)""#),
            Row("appAccountToken", of: #""7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f6\#(separator)""#),
            Row("applicationUsername", of: #""ada\#(separator)nonce""#),
            Row("customerId", of: #""\#(separator)ada""#),
            Row("anonymousId", of: #""\#(separator)ada""#),
            Row("transactionId", of: #""2000000\#(separator)""#),
            Row("formats", of: #"["v1\#(separator)"]"#, at: "/formats/0"),
            Row("facts", of: #"{"status": "active\#(separator)"}"#, at: "/facts/status"),
            Row("facts", of: #"{"storefront": "US\#(separator)"}"#, at: "/facts/storefront"),
            Row("facts", of: #"{"originalTransactionId": "1\#(separator)"}"#, at: "/facts/originalTransactionId"),
            Row("facts", of: #"{"subscriptionGroupId": "1\#(separator)"}"#, at: "/facts/subscriptionGroupId"),
            Row("facts", of: #"{"expiresAt": "2026-01-01T00:00:00Z\#(separator)"}"#, at: "/facts/expiresAt"),
            Row("attributes", of: #"{"tier\#(separator)": "gold"}"#, at: "/attributes"),
        ]
    }

    @Test(arguments: Wire.ofRun)
    func `refuses the separator of the payload in every field, however it is hidden`(wire: Wire) async throws {
        try await expectRefusals(Self.separatorRows, wire)
    }

    static let typeRows = [
        Row("bundleId", of: "7", saying: "expected a string, found 7"),
        Row("bundleId", of: "null", saying: "is missing"),
        Row("bundleId", of: #""""#, saying: "must not be empty"),
        Row("bundleId", of: #""com_example""#, saying: "holds the character _"),
        Row("productId", of: #"["pro.monthly"]"#, saying: "expected a string, found an array"),
        Row("productId", of: #"" pro""#, saying: "holds a space at byte 0"),
        Row("offerId", of: "true", saying: "expected a string, found true"),
        Row("offerId", of: #"{"id": "open"}"#, saying: "found an object"),
        Row("offerId", of: #""\#(String(repeating: "x", count: 256))""#, saying: "is longer than 255 bytes"),
        Row("appAccountToken", of: "12", saying: "expected a UUID"),
        Row("appAccountToken", of: #""7e3fb2042a6b4b2f9a3c1b2c3d4e5f60""#, saying: "expected a UUID"),
        Row("appAccountToken", of: #""{7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60}""#, saying: "expected a UUID"),
        Row("applicationUsername", of: "1.5", saying: "found 1.5"),
        Row("applicationUsername", of: #""ada lovelace""#, saying: "U+0020"),
        Row("applicationUsername", of: #""адa""#, saying: "U+0430"),
        Row("customerId", of: "[]", saying: "expected a string, found an array"),
        Row("customerId", of: #""\#(String(repeating: "x", count: 65))""#, saying: "must be 1 to 64 printable ASCII"),
        Row("anonymousId", of: "7", saying: "expected a string, found 7"),
        Row("anonymousId", of: #""\#(String(repeating: "x", count: 65))""#, saying: "must be 1 to 64 printable ASCII"),
        Row("anonymousId", of: #""dévice""#, saying: "printable ASCII"),
        Row("anonymousID", of: #""device-1""#, saying: "did you mean “anonymousId”?"),
        Row("transactionId", of: "2000000123456789", saying: "expected a string"),
        Row("transactionId", of: #""1e5""#, saying: "must be 1 to 20 digits"),
        Row("transactionId", of: #""000000000000000000001""#, saying: "must be 1 to 20 digits"),
        Row("formats", of: #""v1""#, saying: "expected an array"),
        Row("formats", of: "[]", saying: "expected “v1”, “jws” or both"),
        Row("formats", of: #"["v2"]"#, at: "/formats/0", saying: "expected “v1” or “jws”"),
        Row("formats", of: #"["v1", "v1"]"#, saying: "names a format twice"),
        Row("formats", of: #"["v1", "jws", "v1"]"#, saying: "expected at most 2 elements"),
        Row("facts", of: "[]", saying: "expected an object"),
        Row("facts", of: #"{"subscribedBefore": "yes"}"#, at: "/facts/subscribedBefore", saying: "true or false"),
        Row("facts", of: #"{"status": "lapsed"}"#, at: "/facts/status", saying: "one of active, expired"),
        Row("facts", of: #"{"status": 2}"#, at: "/facts/status"),
        Row("facts", of: #"{"expiresAt": 1782907200}"#, at: "/facts/expiresAt", saying: "RFC 3339"),
        Row("facts", of: #"{"expiresAt": "2026-02-30T00:00:00Z"}"#, at: "/facts/expiresAt", saying: "RFC 3339"),
        Row("facts", of: #"{"autoRenew": true}"#, at: "/facts/autoRenew", saying: "“on” or “off”"),
        Row("facts", of: #"{"ownership": "owned"}"#, at: "/facts/ownership", saying: "purchased, familyShared"),
        Row("facts", of: #"{"environment": "Sandbox"}"#, at: "/facts/environment", saying: "production, sandbox"),
        Row("facts", of: #"{"storefront": "us"}"#, at: "/facts/storefront", saying: "three capital letters"),
        Row("facts", of: #"{"region": "USA"}"#, at: "/facts/region", saying: "two capital letters"),
        Row("facts", of: #"{"originalTransactionId": 7}"#, at: "/facts/originalTransactionId"),
        Row("facts", of: #"{"subscriptionGroupId": 7}"#, at: "/facts/subscriptionGroupId"),
        Row("facts", of: #"{"refundedAt": "2026-01-01T00:00:00Z"}"#, at: "/facts/refundedAt", saying: "an array"),
        Row("facts", of: #"{"refundedAt": ["2026-01-01T00:00:00Z", "soon"]}"#, at: "/facts/refundedAt/1"),
        Row("facts", of: #"{"offersUsed": [{"offerId": "open"}]}"#, at: "/facts/offersUsed/0/type"),
        Row("facts", of: #"{"offersUsed": [{"type": "gift"}]}"#, at: "/facts/offersUsed/0/type", saying: "winBack"),
        Row("facts", of: #"{"offersUsed": [7]}"#, at: "/facts/offersUsed/0", saying: "expected an object"),
        Row("facts", of: #"{"statuss": "active"}"#, at: "/facts/statuss", saying: "did you mean “status”?"),
        Row("attributes", of: "7", saying: "expected an object"),
        Row("attributes", of: #"{"tier": ["gold"]}"#, at: "/attributes/tier", saying: "found an array"),
        Row("attributes", of: #"{"tier": null}"#, at: "/attributes/tier", saying: "found null"),
        Row("attributes", of: #"{"a": 1, "x": 1e999}"#, at: "/attributes/x", saying: "found a larger one"),
        Row("attributes", of: #"{"a b": 1}"#, saying: "printable ASCII"),
        Row(
            "attributes",
            of: #"{"\#(String(repeating: "n", count: 129))": 1}"#,
            saying: "1 to 128"
        ),
        Row(
            "attributes",
            of: #"{"a": "\#(String(repeating: "é", count: 129))"}"#,
            at: "/attributes/a",
            saying: "longer than 128"
        ),
        Row(
            "attributes",
            of: #"{"a": "e\#(String(repeating: "\u{301}", count: 128))"}"#,
            at: "/attributes/a",
            saying: "longer than 128"
        ),
        Row(
            "attributes",
            of: #"{"a": "\#(String(repeating: #"\ud83d\ude00"#, count: 129))"}"#,
            at: "/attributes/a",
            saying: "longer than 128"
        ),
        Row(
            "attributes",
            of: "{\((0..<65).map { #""a\#($0)": []"# }.joined(separator: ", "))}",
            at: "/attributes",
            saying: "there are more than 64 attributes"
        ),
        Row("offerID", of: #""open""#, saying: "did you mean “offerId”?"),
        Row("signedTransaction", of: "[]", saying: "did you mean “signedTransactions”?"),
        Row("signedTransactions", of: "{}", saying: "expected an array, found an object"),
        Row("signedTransactions", of: "[7]", at: "/signedTransactions/0", saying: "expected a compact JWS in a string"),
        Row("nonce", of: #""20fba8a0-2b80-4a7d-a17f-85c1854727f8""#, saying: "is not a known member"),
        Row("keyIdentifier", of: #""OTHER00001""#, saying: "is not a known member"),
        Row("a/b~c", of: "1", at: "/a~1b~0c", saying: "is not a known member"),
        Row("nothing at all", "{}", at: "/bundleId", "/productId", "/offerId", saying: "is missing"),
        Row("an array", "[]", at: "", saying: "expected an object, found an array"),
        Row(
            "token and user name",
            offerBody(
                "open",
                #""appAccountToken": "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60", "applicationUsername": "ada""#
            ),
            at: "/applicationUsername",
            saying: "cannot be combined with appAccountToken"
        ),
        Row(
            "everything at once",
            #"{"bundleId": 1, "productId": 2, "offerId": 3, "formats": 4, "facts": 5, "atributes": 6}"#,
            at: "/bundleId",
            "/productId",
            "/offerId",
            "/facts",
            "/formats",
            "/atributes"
        ),
    ]

    @Test(arguments: Wire.ofRun)
    func `says where a member is not as expected, and what was expected`(wire: Wire) async throws {
        try await expectRefusals(Self.typeRows, wire)
    }

    @Test(arguments: Wire.ofRun)
    func `says of a request that is wrong all over how much of it is, and where the first twenty places are`(
        wire: Wire
    ) async throws {
        try await withService(wire) { service in
            let values = Array(repeating: "7", count: 100).joined(separator: ", ")
            let body = offerBody("open").replacing(
                #"{"subscribedBefore": true}"#,
                with: #"{"refundedAt": [\#(values)]}"#
            )
            let reply = try await service.send(service.call(body))
            #expect(reply.status == 400 && reply.problem == "invalid-request", "\(reply)")
            #expect(reply.pointers == (0..<20).map { "/facts/refundedAt/\($0)" })
            #expect(reply.json["detail"].text?.hasSuffix("(and 99 more; errors has the first 20)") == true, "\(reply)")
        }
    }

    /// Each counts as 128 characters, whatever it takes in bytes and however it is written.
    @Test(arguments: Wire.ofRun, ["x", "é", "e\u{301}", "\u{1F600}", #"\ud83d\ude00"#, #"\u00e9"#])
    func `accepts an attribute with a name and a text of 128 characters`(wire: Wire, character: String) async throws {
        try await withService(wire) { service in
            let name = String(repeating: "n", count: 128)
            let text = String(repeating: character, count: character == "e\u{301}" ? 64 : 128)
            let reply = try await service.sign(offer: "open", #""attributes": {"\#(name)": "\#(text)"}"#)
            #expect(reply.status == 200, "\(reply)")
        }
    }

    /// One service refuses all of them, and records none.
    private func expectRefusals(_ rows: [Row], _ wire: Wire) async throws {
        try await withService(wire) { service in
            for row in rows {
                let reply = try await service.send(service.call(row.body))
                #expect(reply.status == 400, "\(row.name)")
                #expect(reply.problem == "invalid-request", "\(row.name): \(reply)")
                #expect(reply.pointers == row.pointers, "\(row.name): \(reply)")
                if let hint = row.hint {
                    let details = reply.json["errors"].elements.compactMap(\.["detail"].text)
                    #expect(details.contains { $0.contains(hint) }, "\(row.name): \(details)")
                }
                #expect(!reply.body.contains("\u{2063}"), "no invisible character in the answer: \(row.name)")
                #expect(try service.entries().isEmpty, "\(row.name)")
            }
        }
    }

    static let malformedRows = [
        Row("a repeated member", #"{"bundleId": "com.example.app", "bundleId": "com.example.other"}"#, at: "/bundleId"),
        Row("one repeated in escapes", #"{"offerId": "open", "offer\u0049d": "once"}"#, at: "/offerId"),
        Row("one repeated inside", #"{"facts": {"status": "active", "status": "expired"}}"#, at: "/facts/status"),
        Row("nothing", "", at: ""),
        Row("half a text", #"{"bundleId": "com"#, at: "/bundleId"),
        Row("text after it", "{} {}", at: ""),
        Row("a comment", "{/* */}", at: ""),
        Row("a trailing comma", #"{"bundleId": "com.example.app",}"#, at: ""),
        Row("single quotes", "{'bundleId': 1}", at: ""),
        Row("a byte order mark", "\u{FEFF}{}", at: ""),
        Row("a number that is none", #"{"attributes": {"a": NaN}}"#, at: "/attributes/a"),
        Row("half a surrogate pair", #"{"offerId": "\ud83d"}"#, at: "/offerId"),
        Row("nine levels", String(repeating: #"{"a":"#, count: 9) + "1" + String(repeating: "}", count: 9)),
    ]

    @Test(arguments: Wire.ofRun)
    func `refuses what is not strict JSON`(wire: Wire) async throws {
        try await withService(wire) { service in
            for row in Self.malformedRows {
                let reply = try await service.send(service.call(row.body))
                #expect(reply.status == 400, "\(row.name)")
                #expect(reply.problem == "malformed-json", "\(row.name): \(reply)")
                if !row.pointers.isEmpty { #expect(reply.pointers == row.pointers, "\(row.name)") }
            }
        }
    }

    @Test(arguments: Wire.allCases)
    func `refuses bytes that are not UTF-8`(wire: Wire) async throws {
        try await withService(wire) { service in
            var call = service.call("")
            call.body = Array(#"{"offerId": ""#.utf8) + [0xE2, 0x81, 0x22, 0x7D]
            let reply = try await service.send(call)
            #expect(reply.problem == "malformed-json", "\(reply)")
        }
    }
}
