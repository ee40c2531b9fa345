// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

/// What an attested key's assertion of one request has to be.
struct AppAssertionTests {
    typealias Row = AppAttestTests.Row

    static let rows = [
        Row("a byte after it", .cbor(.trailingBytes)) { $0.sent = { $0 + [0] } },
        Row("an indefinite map", .cbor(.indefiniteLength)) { $0.sent = { [0xBF] + $0.dropFirst() + [0xFF] } },
        Row("more than 4 KiB", .cbor(.tooLarge)) { $0.sent = { $0 + [UInt8](repeating: 0, count: 4096) } },
        Row("a member twice", .cbor(.repeatedKey)) { $0.draft.members = { $0 + [$0[0]] } },
        Row("a member more", .form) { $0.draft.members = { $0 + [(.text("fmt"), .text("none"))] } },
        Row("no signature", .form) { $0.draft.members = { Array($0.dropFirst()) } },
        Row("a signature of r and s side by side", .signatureForm) { app in
            app.draft.members = { members in
                guard case .bytes(let der) = members[0].1, let signature = ECDSASignature(der: der) else { return [] }
                return [(members[0].0, .bytes(signature.rawRS)), members[1]]
            }
        },
        Row("r and s zero", .signatureForm) { app in
            app.draft.members = { [($0[0].0, .bytes([0x30, 6, 2, 1, 0, 2, 1, 0])), $0[1]] }
        },
        Row("36 bytes of authenticator data", .authenticatorData) { app in
            app.draft.members = { members in
                guard case .bytes(let data) = members[1].1 else { return [] }
                return [members[0], (members[1].0, .bytes(Array(data.prefix(36))))]
            }
        },
        Row("a changed counter", .signatureWrong) { app in
            app.draft.members = { members in
                guard case .bytes(var data) = members[1].1 else { return [] }
                data[36] += 1
                return [members[0], (members[1].0, .bytes(data))]
            }
        },
        Row("another request", .signatureWrong) { $0.clientData = SHA256.digest(of: [1]).bytes },
        Row("another key", .signatureWrong) { $0.draft.deviceKey = try AttestedApp.key(.p256()) },
        Row("another app of the team", .otherApp) { $0.draft.appID = "ABCDE12345.com.example.other" },
        Row("a byte after the counter", .extensions) { $0.draft.rest = [0] },
        Row("a byte after the extensions", .authenticatorData) { app in
            app.draft.extensions = .map([])
            app.draft.rest = [0]
        },
        Row("a category as text", .extensions) { app in
            app.draft.extensions = .map([(.text("apple_validation_category_01"), .text("appStore"))])
        },
    ]

    @Test(arguments: rows)
    func `refuses what the key has not signed for this request`(row: Row) throws {
        var app = try AttestedApp()
        let key = try PublicKey(spki: app.draft.deviceKey.spki)
        #expect(try assertion(app, by: key).counter == 7)
        try row.change(&app)
        #expect(throws: row.fault) { try assertion(app, by: key) }
    }

    @Test
    func `tells the counter in full, and what the system says of the app now`() throws {
        var app = try AttestedApp()
        let key = try PublicKey(spki: app.draft.deviceKey.spki)
        app.draft.extensions = .map([(.text("apple_validation_category_01"), .bytes([2, 0, 0, 0]))])
        let made = try AppAssertion(app.draft.assertion(AppAttestTests.clientData, counter: .max - 1))
        #expect(made.counter == UInt32.max - 1)
        #expect(made.extensions.category == .testFlight)
        #expect(try assertion(app, by: key).extensions.category == .testFlight)
    }

    private func assertion(_ app: AttestedApp, by key: PublicKey) throws -> AppAssertion {
        let assertion = try AppAssertion(app.sent(app.draft.assertion(AppAttestTests.clientData, counter: 7)))
        let hash = try #require(SHA256Digest(bytes: app.clientData))
        try assertion.verify(by: key, clientDataHash: hash, appID: app.appID)
        return assertion
    }
}
