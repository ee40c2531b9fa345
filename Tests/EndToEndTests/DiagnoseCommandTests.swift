// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `offer-signer diagnose`: a report of a signature that OpenSSL's own command made.
    @Suite(.aboutSQLite) struct DiagnoseCommandTests {
        private struct Place {
            let folder: TemporaryDirectory
            let privateKey: String
            let publicKey: String

            init() throws {
                folder = try TemporaryDirectory()
                privateKey = try folder.write(try KeyTool.makeKey(), to: "key.p8")
                publicKey = try folder.write(
                    try KeyTool.openssl("pkey", "-in", privateKey, "-pubout"),
                    to: "public.pem"
                )
            }

            /// As OpenSSL prints it: a colon between bytes, in capitals.
            func pin() throws -> String {
                let spki = try KeyTool.openssl("pkey", "-in", privateKey, "-pubout", "-outform", "DER")
                let text = String(decoding: try KeyTool.openssl("dgst", "-sha256", "-c", input: spki), as: UTF8.self)
                return text.split(separator: " ").last.map { $0.uppercased().filter { !$0.isWhitespace } } ?? ""
            }

            /// A report whose token was signed in this letter case.
            func report(_ name: String, signs token: (String) -> String, nonce: UUID = UUID()) throws -> String {
                let account = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
                let nonce = nonce.uuidString.lowercased()
                let fields = [
                    "com.example.app", "ABC123DEFG", "pro", "winback", token(account), nonce, "1795250488617",
                ]
                let payload = Array(fields.joined(separator: "\u{2063}").utf8)
                let signature = try KeyTool.openssl("dgst", "-sha256", "-sign", privateKey, input: payload)
                let text = """
                    {"bundleId": "com.example.app", "keyIdentifier": "ABC123DEFG", "productId": "pro", "offerId": "winback",
                     "appAccountToken": "\(account)", "nonce": "\(nonce)", "timestamp": 1795250488617,
                     "attemptedAt": 1795250490000, "signature": "\(Data(signature).base64EncodedString())"}
                    """
                return try folder.write(Array(text.utf8), to: name)
            }
        }

        @Test func `a mistake is proved by a public key, a pin, and a second report`() async throws {
            let place = try Place()
            let first = try place.report("first.json") { $0.uppercased() }
            let second = try place.report("second.json") { $0.uppercased() }
            let ways = [
                ["--public-key", "ABC123DEFG=\(place.publicKey)"], ["--public-key", place.publicKey],
                ["--pin", try place.pin()], ["--with", second],
            ]
            for way in ways {
                let outcome = try await Program.run(["diagnose", "--file", first] + way)
                #expect(outcome.succeeded, "\(way): \(outcome)")
                #expect(outcome.output.hasPrefix("payload-differs:"), "\(way): \(outcome)")
                #expect(outcome.output.contains("token-case (proved, to be put right: server)"), "\(way): \(outcome)")
            }
        }

        @Test func `a right signature is called so, and one of an unknown key is not decided`() async throws {
            let place = try Place()
            let right = try place.report("right.json") { $0 }
            let good = try await Program.run(["diagnose", "--file", right, "--public-key", place.publicKey])
            #expect(good.succeeded && good.output.hasPrefix("signed-correctly:"), "\(good)")
            let unknown = try await Program.run(["diagnose", "--file", right, "--format", "json"])
            #expect(unknown.end == .exited(1), "\(unknown)")
            let answer = try #require(
                try JSONSerialization.jsonObject(with: Data(unknown.output.utf8)) as? [String: Any]
            )
            #expect(answer["verdict"] as? String == "undecided")
            #expect((answer["notDecidable"] as? [String])?.contains("needs-second-signature") == true, "\(answer)")
        }

        @Test func `a report comes from standard input, too`() async throws {
            let place = try Place()
            let report = try place.report("first.json") { _ in "" }
            let pipe = #""$0" diagnose --public-key "$1" < "$2""#
            let outcome = try await runProcess(["sh", "-c", pipe, Program.path, place.publicKey, report])
            #expect(outcome.succeeded && outcome.output.contains("token-not-signed (proved"), "\(outcome)")
        }

        @Test func `what can't be read ends with 2, and says what was expected`() async throws {
            let place = try Place()
            let report = try place.report("first.json") { $0 }
            let broken = try place.folder.write(Array("{\"signature\": 1}".utf8), to: "broken.json")
            let missing = place.folder.path(of: "missing.json")
            let rows: [([String], String)] = [
                (["--file", missing], "missing.json"),
                (["--file", broken], "/signature"),
                (["--file", report, "--pin", "12:34"], "64 hexadecimal digits"),
                (["--file", report, "--public-key", broken], "broken.json"),
                (["--file", report, "--with", missing], "missing.json"),
                (["--file", report, "--offers", "offers"], "--keys FILE"),
                (["--file", report, "--format", "xml"], "text or json"),
            ]
            for (options, complaint) in rows {
                let outcome = try await Program.run(["diagnose"] + options)
                #expect(outcome.end == .exited(2) && outcome.errors.contains(complaint), "\(options): \(outcome)")
            }
        }
    }
}
