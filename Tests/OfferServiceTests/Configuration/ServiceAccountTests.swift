// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import OfferDomain
import OfferService
import TestSupport
import Testing

/// Service accounts in the `keys` file, and what wrong ones are refused with.
struct ServiceAccountTests {
    private static let pem = try? KeyTool.makeRSAKey()

    /// A good file; each row changes one thing.
    private static let good = """
        {
          customerIds: {epoch: "1", file: "customer-ids.key"},
          googleServiceAccounts: [
            {
              packageNames: ["com.example.app", "com.example.other"],
              file: "account.json",
            },
            {
              packageNames: ["com.example.Third_1"],
              file: "second.json",
            },
          ],
          auditLog: {origin: "example.com/log", file: "audit-log.key"},
        }
        """

    private static func place() throws -> (TemporaryDirectory, Settings) {
        let directory = try TemporaryDirectory()
        _ = try TestService.write(TestFiles(), into: directory)
        let draft = ServiceAccountDraft(pem: try #require(pem))
        try directory.write(draft.bytes, to: "account.json")
        let second = ServiceAccountDraft(pem: try #require(pem), email: "second@x.example", keyID: "fedcba")
        try directory.write(second.bytes, to: "second.json")
        try directory.write(Array(good.utf8), to: "keys")
        return (directory, try TestService.settings(in: directory, TestFiles()))
    }

    @Test func `finds the account of an app, with the key of its file`() throws {
        let (directory, settings) = try Self.place()
        #expect(issues(directory, settings).errors == [])
        let ring = try LoadedConfiguration(settings).keys.ring.disabling([try KeyID("ABCDEFGHIJ")])
        #expect(
            ring.serviceAccounts.map(\.name.email.text) == [
                "signer@example.iam.gserviceaccount.com", "second@x.example",
            ]
        )
        let account = try #require(ring.serviceAccount(for: PackageName("com.example.other")))
        #expect(account === ring.serviceAccounts[0] && account.name.keyID.text == "0123456789abcdef")
        #expect(try ring.serviceAccount(for: PackageName("com.example.Third_1"))?.name.keyID.text == "fedcba")
        #expect(try ring.serviceAccount(for: PackageName("com.example.third_1")) == nil)
        let spki = try KeyTool.openssl("pkey", "-pubout", "-outform", "DER", input: #require(Self.pem))
        #expect(account.publicKeyDigest == SHA256.digest(of: spki).hex)
    }

    static let rows = [
        IssueRow(
            "no package name",
            #"["com.example.Third_1"]"#,
            "[]",
            "error: keys:9:21 /googleServiceAccounts/1/packageNames: expected at least one package name"
        ),
        IssueRow(
            "package names that are missing",
            #"packageNames: ["com.example.Third_1"],"#,
            "",
            "error: keys:8:5 /googleServiceAccounts/1/packageNames: expected at least one package name"
        ),
        IssueRow(
            "a package name that is none",
            "com.example.Third_1",
            "com.example-third",
            "error: keys:9:22 /googleServiceAccounts/1/packageNames/0: holds the character - at byte 11, which is not "
                + "allowed"
        ),
        IssueRow(
            "a package name that is a number",
            #""com.example.Third_1""#,
            "3",
            "error: keys:9:22 /googleServiceAccounts/1/packageNames/0: expected a package name, found 3"
        ),
        IssueRow(
            "an app with two accounts",
            "com.example.Third_1",
            "com.example.other",
            "error: keys:9:22 /googleServiceAccounts/1/packageNames/0: is at /googleServiceAccounts/0/packageNames/1 "
                + "already; an app has one account"
        ),
        IssueRow(
            "no file",
            #"file: "second.json","#,
            "",
            "error: keys:8:5 /googleServiceAccounts/1/file: is missing; expected a path, or credential:NAME"
        ),
        IssueRow(
            "a file that is not there",
            "second.json",
            "third.json",
            "error: keys:10:13 /googleServiceAccounts/1/file: “third.json” The file cannot be opened: No such file or "
                + "directory (errno 2). It was looked for at third.json. That folder has account.json, second.json."
        ),
        IssueRow(
            "a misspelt member",
            "packageNames: [\"com.example.Third_1\"],",
            "packageNames: [\"com.example.Third_1\"], bundleIds: [],",
            "error: keys:9:57 /googleServiceAccounts/1/bundleIds: is not a known member (known: file, packageNames)"
        ),
        IssueRow(
            "several things at once",
            #"{\#n      packageNames: ["com.example.Third_1"],\#n      file: "second.json","#,
            #"{\#n      packageNames: "x", file: "gone.json","#,
            "error: keys:9:21 /googleServiceAccounts/1/packageNames: expected an array, found “x”",
            "error: keys:9:32 /googleServiceAccounts/1/file: “gone.json” The file cannot be opened: No such file or "
                + "directory (errno 2). It was looked for at gone.json. That folder has account.json, second.json."
        ),
    ]

    @Test(arguments: rows)
    func `says what is wrong, and where`(row: IssueRow) throws {
        let (directory, settings) = try Self.place()
        let (old, new) = row.change
        #expect(Self.good.contains(old))
        try directory.write(Array(Self.good.replacing(old, with: new).utf8), to: "keys")
        #expect(issues(directory, settings).errors == row.issues)
    }

    struct FileRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: @Sendable (ServiceAccountDraft) throws -> [UInt8]
        let messages: [String]

        init(_ name: String, _ messages: String..., bytes: @escaping @Sendable (ServiceAccountDraft) throws -> [UInt8])
        {
            testDescription = name
            self.messages = messages
            self.bytes = bytes
        }
    }

    private static let expected =
        "The key file of a service account was expected, as the Google Cloud console hands it out in JSON."

    static let files = [
        FileRow(
            "a key without JSON",
            "The file is not one JSON object of plain members; the fault is at byte 0. \(expected)"
        ) {
            _ in try #require(pem)
        },
        FileRow("no type", "The file has no member type. \(expected)") { $0.with("type", nil).bytes },
        FileRow(
            "a client's file",
            "The file's member type is “authorized_user”; “service_account” was expected."
        ) { $0.with("type", #""authorized_user""#).bytes },
        FileRow(
            "an e-mail address that is none",
            "The file's member client_email is “nobody”; a service account's e-mail address was expected."
        ) { $0.with("client_email", #""nobody""#).bytes },
        FileRow("a key id that is a number", "private_key_id: The member private_key_id is not a string.") {
            $0.with("private_key_id", "7").bytes
        },
        FileRow("a key id with a space", "The file's member private_key_id is “a b”; the id of the key was expected.") {
            $0.with("private_key_id", #""a b""#).bytes
        },
        FileRow("no key", "The file has no member private_key. \(expected)") { $0.with("private_key", nil).bytes },
        FileRow(
            "a key cut off",
            "private_key: The private key is not exactly one whole PEM block “PRIVATE KEY”; nothing else was expected."
        ) { $0.with("private_key", #""-----BEGIN PRIVATE KEY-----\nMII""#).bytes },
        FileRow("an EC key", "private_key: This is a key for id-ecPublicKey; an RSA key was expected.") { _ in
            ServiceAccountDraft(pem: try KeyTool.makeKey()).bytes
        },
        FileRow("a short key", "private_key: The RSA key has 1024 bits; 2048 to 8192 were expected.") { _ in
            ServiceAccountDraft(pem: try KeyTool.makeRSAKey(bits: 1024)).bytes
        },
        FileRow(
            "everything at once",
            "The file has no member type. \(expected)",
            "The file has no member client_email. \(expected)",
            "The file has no member private_key_id. \(expected)",
            "The file has no member private_key. \(expected)"
        ) { _ in Array(#"{"a": 1}"#.utf8) },
    ]

    @Test(arguments: files)
    func `says what is wrong with a key file, and nothing of the key`(row: FileRow) throws {
        let (directory, settings) = try Self.place()
        let bytes = try row.bytes(ServiceAccountDraft(pem: try #require(Self.pem)))
        try directory.write(bytes, to: "account.json")
        let errors = issues(directory, settings).errors
        #expect(errors == row.messages.map { "error: keys:6:13 /googleServiceAccounts/0/file: \($0)" })
        #expect(!errors.contains { $0.contains("MII") })
    }

    @Test func `reads no key file that others may read`() throws {
        let (directory, settings) = try Self.place()
        let bytes = ServiceAccountDraft(pem: try #require(Self.pem)).bytes
        try directory.write(bytes, to: "account.json", mode: 0o644)
        let errors = issues(directory, settings).errors
        #expect(errors.count == 1 && errors[0].contains("The file's mode is 0644"), "\(errors)")
    }

    @Test func `needs a key or a service account`() throws {
        let (directory, settings) = try Self.place()
        let rest = #"auditLog: {origin: "example.com/log", file: "audit-log.key"}"#
        try directory.write(
            Array(#"{customerIds: {epoch: "1", file: "customer-ids.key"}, \#(rest)}"#.utf8),
            to: "keys"
        )
        #expect(
            issues(directory, settings).errors == [
                "error: keys:1:1 /keys: names no key, and no service account is named either; nothing could be done"
            ]
        )
    }
}
