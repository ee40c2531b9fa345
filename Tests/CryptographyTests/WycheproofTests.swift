// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import JSON
import Testing

/// The test vectors of Wycheproof, which know what verifiers have done wrong before.
struct WycheproofTests {
    private struct Group: Decodable {
        /// A JSON Web Key.
        let key: String
        let rows: [Row]
    }

    private struct Row: Decodable {
        let id: Int
        let what: String
        let message: String?
        let signature: String?
        /// A compact JWS, instead of both.
        let token: String?
        /// `valid`, `invalid`, or `acceptable`, which is refused here.
        let result: String

        var isValid: Bool { result == "valid" }
    }

    private static func groups(_ file: String, from here: String = #filePath) throws -> [Group] {
        let url = URL(filePath: here).deletingLastPathComponent().appending(path: "Wycheproof/\(file).json")
        return try JSONDecoder().decode([Group].self, from: Data(contentsOf: url))
    }

    private static func key(_ text: String) throws -> TokenKey { try TokenKey(JSONDocument(Array(text.utf8)).root) }

    private static func bytes(_ text: String) throws -> [UInt8] { try #require(Base64.decodeURL(Array(text.utf8))) }

    @Test(arguments: [("ES256", 262), ("RS256", 257), ("PS256", 108), ("EdDSA", 151)])
    func `accepts the signatures that are valid, and no others`(name: String, count: Int) throws {
        let algorithm = try #require(TokenAlgorithm(rawValue: name))
        var tried = 0
        for group in try Self.groups(name) {
            guard let key = try? Self.key(group.key) else {
                #expect(group.key.contains(#""e": "Aw""#), "only the exponent 3 makes no key: \(group.key)")
                continue
            }
            for row in group.rows {
                let message = try Self.bytes(#require(row.message))
                let signature = try Self.bytes(#require(row.signature))
                let isGood = key.verifies(signature, of: message[...], by: algorithm)
                #expect(isGood == row.isValid, "\(row.id): \(row.what)")
                tried += 1
            }
        }
        #expect(tried == count)
    }

    @Test func `accepts the JWS that are valid, and no others`() throws {
        var tried = 0
        for group in try Self.groups("JWS") {
            let key = try? Self.key(group.key)
            for row in group.rows {
                let text = try #require(row.token)
                let token = try? JSONWebToken(Array(text.utf8)[...])
                let isGood = token.flatMap { token in key.map(token.isSigned) } ?? false
                // Some have a payload that is no JSON object, so no token; then only the signature is asked about.
                let isSigned = token == nil ? Self.isSigned(text, key) : isGood
                #expect(isSigned == row.isValid && (!isGood || row.isValid), "\(row.id): \(row.what)")
                tried += 1
            }
        }
        #expect(tried == 98)
    }

    /// Whether the last of three parts is a signature of the others by the key's own algorithm.
    private static func isSigned(_ token: String, _ key: TokenKey?) -> Bool {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard let key, parts.count == 3, let signature = Base64.decodeURL(Array(parts[2].utf8)) else { return false }
        let input = Array("\(parts[0]).\(parts[1])".utf8)
        let header = Base64.decodeURL(Array(parts[0].utf8)).flatMap { try? JSONDocument($0) }
        let named = header?.root.object?["alg"]?.string
        return named.flatMap(TokenAlgorithm.init).map { key.verifies(signature, of: input[...], by: $0) } ?? false
    }
}
