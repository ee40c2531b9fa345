// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import OfferService
import TestSupport
import Testing

/// What a wrong `keys` file is refused with.
struct KeysFileTests {
    /// A good file; each row changes one thing.
    private static let good = """
        {
          // One key.
          keys: [
            {
              id: "ACTIVE0001",
              issuerId: "57246542-96fe-1a63-e053-0824d011072a",
              file: "active.p8",
              bundleIds: ["com.example.app", "com.example.other"],
              purposes: ["promotional-offer"],
              status: "active",
            },
          ],
          customerIds: {epoch: "1", file: "customer-ids.key"},
          auditLog: {origin: "example.com/log", file: "audit-log.key"},
        }
        """

    private static let keyMembers =
        " (known: bundleIds, file, id, issuerId, passphraseFile, publicKeySha256, purposes, status)"

    static let rows = [
        IssueRow("all is well", "One key", "1 key"),
        IssueRow(
            "a missing id",
            #"id: "ACTIVE0001","#,
            "",
            "error: keys:4:5 /keys/0/id: is missing; expected a string"
        ),
        IssueRow(
            "an id in lowercase",
            "ACTIVE0001",
            "active0001",
            "error: keys:5:11 /keys/0/id: must be 10 characters, each one of A to Z and 0 to 9"
        ),
        IssueRow(
            "a short id",
            "ACTIVE0001",
            "ACTIVE01",
            "error: keys:5:11 /keys/0/id: must be 10 characters, each one of A to Z and 0 to 9"
        ),
        IssueRow(
            "an issuer id that is none",
            "57246542-",
            "57246542",
            "error: keys:6:17 /keys/0/issuerId: expected a UUID, as the Keys page of App Store "
                + "Connect shows it, found “5724654296fe-1a63-e053-0824d011072a”"
        ),
        IssueRow(
            "an issuer id that is a number",
            #""57246542-96fe-1a63-e053-0824d011072a""#,
            "57",
            "error: keys:6:17 /keys/0/issuerId: expected a UUID, as the Keys page of App Store "
                + "Connect shows it, found 57"
        ),
        IssueRow(
            "a misspelt member",
            "issuerId",
            "issuerID",
            "error: keys:4:5 /keys/0/issuerId: is missing; expected a UUID, as the Keys page of App "
                + "Store Connect shows it",
            "error: keys:6:17 /keys/0/issuerID: is not a known member; did you mean “issuerId”?" + keyMembers
        ),
        IssueRow(
            "a member of another day",
            #"status: "active","#,
            #"notBefore: 7,"#,
            "error: keys:10:18 /keys/0/notBefore: is not a known member" + keyMembers
        ),
        IssueRow(
            "a status that is none",
            #""active","#,
            #""on","#,
            "error: keys:10:15 /keys/0/status: expected “active”, “retiring” or “disabled”, found " + "“on”"
        ),
        IssueRow(
            "a purpose that is misspelt",
            #"["promotional-offer"]"#,
            #"["promotional-offers"]"#,
            "error: keys:9:18 /keys/0/purposes/0: expected one of promotional-offer, "
                + "introductory-offer-eligibility, advanced-commerce-api, app-store-server-api, "
                + "found “promotional-offers”; did you mean “promotional-offer”?"
        ),
        IssueRow(
            "purposes that are no list",
            #"["promotional-offer"]"#,
            #""promotional-offer""#,
            "error: keys:9:17 /keys/0/purposes: expected an array, found “promotional-offer”"
        ),
        IssueRow(
            "purposes that name none",
            #"["promotional-offer"]"#,
            "[]",
            "error: keys:9:17 /keys/0/purposes: is empty; leave it out for all purposes, or set the key's status to "
                + "“disabled”"
        ),
        IssueRow(
            "no bundle id",
            #"["com.example.app", "com.example.other"]"#,
            "[]",
            "error: keys:8:18 /keys/0/bundleIds: expected at least one bundle id"
        ),
        IssueRow(
            "a bundle id with an underscore",
            "com.example.app",
            "com_example",
            "error: keys:8:19 /keys/0/bundleIds/0: holds the character _ at byte 3, which is not " + "allowed"
        ),
        IssueRow(
            "a bundle id that is a number",
            #"["com.example.app","#,
            "[7,",
            "error: keys:8:19 /keys/0/bundleIds/0: expected a bundle id, found 7"
        ),
        IssueRow(
            "a file that is not there",
            "active.p8",
            "gone.p8",
            "error: keys:7:13 /keys/0/file: “gone.p8” The file cannot be opened: No such file or "
                + "directory (errno 2). It was looked for at gone.p8. That folder has active.p8, second.p8."
        ),
        IssueRow(
            "a file named by a number",
            #""active.p8""#,
            "8",
            "error: keys:7:13 /keys/0/file: expected a path, or credential:NAME, found 8"
        ),
        IssueRow(
            "a file without a name",
            #""active.p8""#,
            #""""#,
            "error: keys:7:13 /keys/0/file: expected a path, or credential:NAME, found “”"
        ),
        IssueRow(
            "a directory",
            "active.p8",
            ".",
            "error: keys:7:13 /keys/0/file: “.” This is a directory; a regular file was expected."
        ),
        IssueRow(
            "a file that is no key",
            "active.p8",
            "keys",
            "error: keys:7:13 /keys/0/file: The file is JSON, as the key file of a Google service account is; one PEM "
                + "block “PRIVATE KEY” was expected, as in the .p8 file from App Store Connect. A Google key file belongs "
                + "in googleServiceAccounts."
        ),
        IssueRow(
            "a key in hardware",
            "active.p8",
            "pkcs11:token=x",
            "error: keys:7:13 /keys/0/file: names a key by pkcs11:, which this version does not " + "read; give a file"
        ),
        IssueRow(
            "a credential without systemd",
            "active.p8",
            "credential:active",
            "error: keys:7:13 /keys/0/file: names a credential, but CREDENTIALS_DIRECTORY is not "
                + "set; systemd sets it for LoadCredential="
        ),
        IssueRow(
            "a credential that climbs out",
            "active.p8",
            "credential:../active",
            "error: keys:7:13 /keys/0/file: expected credential: and a name of letters, digits, “.”, " + "“_” and “-”"
        ),
        IssueRow(
            "a pass phrase that nothing needs",
            #"file: "active.p8","#,
            #"file: "active.p8", passphraseFile: "passphrase","#,
            "error: keys:7:13 /keys/0/file: A passphrase is configured, but the key is not "
                + "encrypted, so it is less protected than the configuration suggests."
        ),
        IssueRow(
            "a pin that is none",
            #"file: "active.p8","#,
            #"file: "active.p8", publicKeySha256: "00","#,
            "error: keys:7:43 /keys/0/publicKeySha256: expected 64 hexadecimal digits, found “00”"
        ),
        IssueRow(
            "no keys",
            "keys: [",
            "keys: [], key: [",
            "error: keys:3:9 /keys: names no key, and no service account is named either; nothing could be done",
            "error: keys:3:18 /key: is not a known member; did you mean “keys”? (known: appStoreConnect, auditLog, customerIds, "
                + "googleServiceAccounts, identityProviders, keys)"
        ),
        IssueRow(
            "keys that are an object",
            "keys: [",
            "keys: {}, key: [",
            "error: keys:3:9 /keys: expected an array, found an object",
            "error: keys:3:18 /key: is not a known member; did you mean “keys”? (known: appStoreConnect, auditLog, customerIds, "
                + "googleServiceAccounts, identityProviders, keys)"
        ),
        IssueRow(
            "no secret for customer ids",
            "customerIds:",
            "customerIDs:",
            "error: keys:1:1 /customerIds: is missing; expected an object with epoch and file, or a list "
                + "of them: the secrets under which customer ids are kept",
            "error: keys:13:16 /customerIDs: is not a known member; did you mean “customerIds”? "
                + "(known: appStoreConnect, auditLog, customerIds, googleServiceAccounts, identityProviders, keys)"
        ),
        IssueRow(
            "no epoch",
            #"customerIds: {epoch: "1", file: "customer-ids.key"}"#,
            "customerIds: []",
            "error: keys:13:16 /customerIds: expected at least one epoch"
        ),
        IssueRow(
            "an epoch listed twice",
            #"customerIds: {epoch: "1", file: "customer-ids.key"}"#,
            #"customerIds: [{epoch: "1", file: "customer-ids.key"}, {epoch: "1", file: "customer-ids.key"}]"#,
            "error: keys:13:57 /customerIds/1: epoch 1 is listed twice"
        ),
        IssueRow(
            "an epoch with a colon",
            #"epoch: "1""#,
            #"epoch: "1:2""#,
            "error: keys:13:24 /customerIds/epoch: expected a string of 1 to 16 letters or digits, found “1:2”"
        ),
        IssueRow(
            "a secret that is no hexadecimal",
            "customer-ids.key",
            "passphrase",
            "error: keys:13:35 /customerIds/file: “passphrase” The file holds something other than "
                + "pairs of lowercase hexadecimal digits and a line end; only these were expected. "
                + "Move the file away, and make one: (umask 077; openssl rand -hex 32 > passphrase)"
        ),
        IssueRow(
            "a missing comma",
            #""active.p8","#,
            #""active.p8""#,
            "error: keys:8:7 /keys/0: A comma or the closing bracket is expected (at /keys/0, byte " + "142)."
        ),
        IssueRow(
            "a repeated member",
            #"status: "active","#,
            #"status: "active", id: "ACTIVE0002","#,
            "error: keys:10:25 /keys/0/id: The object has this name already (at /keys/0/id, byte " + "259)."
        ),
        IssueRow(
            "an unfinished file",
            "customerIds: {",
            "customerIds: [",
            "error: keys:13:17 /customerIds/0: A value is expected (at /customerIds/0, byte 287)."
        ),
        IssueRow(
            "the same key twice",
            "  ],\n",
            """
                {id: "ACTIVE0001", issuerId: "57246542-96fe-1a63-e053-0824d011072a", file: "second.p8",
                 bundleIds: ["com.example.third"]},
              ],

            """,
            "error: keys:3:9 /keys: ACTIVE0001 is listed twice"
        ),
        IssueRow(
            "two active keys for one app",
            "  ],\n",
            """
                {id: "ACTIVE0002", issuerId: "57246542-96fe-1a63-e053-0824d011072a", file: "second.p8",
                 bundleIds: ["com.example.other"]},
              ],

            """,
            "error: keys:3:9 /keys: ACTIVE0001 and ACTIVE0002 are both active for com.example.other "
                + "and promotional-offer; make one of them retiring"
        ),
    ]

    @Test(arguments: rows)
    func `says what is wrong with keys, where, and what was expected`(row: IssueRow) async throws {
        let (directory, settings, _) = try Self.place()
        let text = Self.good.replacing(row.change.old, with: row.change.new, maxReplacements: 1)
        #expect(text != Self.good)
        try directory.write(Array(text.utf8), to: "keys")
        #expect(issues(directory, settings).errors == row.issues)
    }

    @Test func `takes a pin for the key it names, and for no other`() throws {
        let (directory, settings, publicKeys) = try Self.place()
        let digests = try ["active.p8", "second.p8"].map { try #require(publicKeys[$0]).spkiSHA256.hex }
        for (digest, isRight) in zip(digests, [true, false]) {
            let pinned = Self.good.replacing(
                #"file: "active.p8","#,
                with: #"file: "active.p8", publicKeySha256: "\#(digest)","#
            )
            try directory.write(Array(pinned.utf8), to: "keys")
            let expected =
                "error: keys:7:13 /keys/0/file: The public key's SHA-256 is \(digests[0]); \(digest) was expected. "
                + "Is it the file of another key id?"
            #expect(issues(directory, settings).errors == (isRight ? [] : [expected]))
        }
    }

    /// What is wrong with a key's file, each with its own message; the whole table is in the tests of the keys.
    @Test(
        arguments: [
            ("mode", "mode is 0644"), ("two", "second PEM block"), ("text", "holds no line"), ("cut", "no END line"),
            ("curve", "on the curve secp384r1"), ("rsa", "This is a key for rsaEncryption"),
            ("public", "public key only"),
        ]
    )
    func `says of a bad key file what is wrong with it`(fault: (kind: String, message: String)) throws {
        let (directory, settings, publicKeys) = try Self.place()
        let good = try Data(contentsOf: URL(filePath: directory.path(of: "active.p8")))
        let bytes: [UInt8] =
            switch fault.kind {
            case "two": Array(good + good)
            case "text": Array("not a key\n".utf8)
            case "cut": Array(good.dropLast(30))
            case "curve": try KeyTool.makeKey(curve: "P-384")
            case "rsa": try KeyTool.openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
            case "public": Array(try #require(publicKeys["active.p8"]).pem.utf8)
            default: Array(good)
            }
        try directory.write(bytes, to: "active.p8", mode: fault.kind == "mode" ? 0o644 : 0o600)
        let errors = issues(directory, settings).errors
        #expect(errors.count == 1)
        #expect(
            errors[0].hasPrefix("error: keys:7:13 /keys/0/file: ") && errors[0].contains(fault.message),
            "\(errors)"
        )
    }

    @Test func `warns of a file that is named like a key of another kind, and of an app without a key`() throws {
        let (directory, settings, _) = try Self.place()
        let named = Self.good.replacing("active.p8", with: "AuthKey_ACTIVE0001.p8")
            .replacing(#""active","#, with: #""retiring","#)
        try FileManager.default.moveItem(
            atPath: directory.path(of: "active.p8"),
            toPath: directory.path(of: "AuthKey_ACTIVE0001.p8")
        )
        try directory.write(Array(named.utf8), to: "keys")
        let found = issues(directory, settings)
        #expect(found.errors.isEmpty)
        #expect(
            found.warnings == [
                "warning: keys:4:5 /keys/0/file: is named AuthKey_…, as App Store Connect names API keys; offers are "
                    + "signed with an In-App Purchase key, whose file is named SubscriptionKey_…",
                "warning: keys and offers: no key is active for com.example.app and promotional-offer; its offers "
                    + "can't be signed",
                "warning: keys and offers: no key is active for com.example.other and promotional-offer; its offers "
                    + "can't be signed",
            ]
        )
    }

    @Test func `reads an encrypted key with the pass phrase beside it`() throws {
        let (directory, settings, _) = try Self.place()
        let pem = Array(try Data(contentsOf: URL(filePath: directory.path(of: "active.p8"))))
        let encrypted = try KeyTool.encrypt(pem, passphrase: "open sesame", "-v2", "aes-256-cbc")
        try directory.write(encrypted, to: "active.p8")
        let missing = "error: keys:7:13 /keys/0/file: The key is encrypted, and no passphrase is configured for it."
        #expect(issues(directory, settings).errors == [missing])
        let text = Self.good.replacing(
            #"file: "active.p8","#,
            with: #"file: "active.p8", passphraseFile: "passphrase","#
        )
        try directory.write(Array(text.utf8), to: "keys")
        #expect(issues(directory, settings).errors == [])
        try directory.write(Array("wrong".utf8), to: "passphrase")
        #expect(issues(directory, settings).errors.map { $0.contains("cannot be decrypted") } == [true])
    }

    @Test func `says what is wrong in both files at once`() throws {
        let (directory, settings, _) = try Self.place()
        for name in ["keys", "offers"] { try directory.write(Array("{".utf8), to: name) }
        #expect(
            issues(directory, settings).errors.map { String($0.prefix(16)) } == [
                "error: keys:1:2:", "error: offers:1:",
            ]
        )
        for name in ["keys", "offers"] { try FileManager.default.removeItem(atPath: directory.path(of: name)) }
        #expect(
            issues(directory, settings).errors == [
                "error: keys: cannot be opened: No such file or directory; name another file with --keys or "
                    + "OFFER_SIGNER_KEYS, or write it with offer-signer init",
                "error: offers: cannot be opened: No such file or directory; name another file with --offers or "
                    + "OFFER_SIGNER_OFFERS, or write it with offer-signer init",
            ]
        )
    }

    private static func place() throws -> (TemporaryDirectory, Settings, [String: PublicKey]) {
        let directory = try TemporaryDirectory()
        var files = TestFiles()
        files.privateKeys = ["active.p8", "second.p8"]
        let publicKeys = try TestService.write(files, into: directory)
        try directory.write(Array("open sesame\n".utf8), to: "passphrase")
        try directory.write(Array(good.utf8), to: "keys")
        return (directory, try TestService.settings(in: directory, files), publicKeys)
    }
}
