// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import JSON

/// The public keys that Google signs its tokens with, by their ids.
///
/// Source: RFC 7517 section 5, RFC 7518 section 6.3.1.
struct GoogleKeySet: Sendable {
    let keys: [String: RSAPublicKey]
    /// How long it may be used without asking again.
    let freshMilliseconds: Int64

    /// Reads an answer with the set; `nil` if it holds no key that can be used, or one id twice.
    ///
    /// A key of another kind is passed over: Google may add some.
    init?(_ response: ClientResponse) {
        guard let document = try? JSONDocument(response.body, limits: Self.limits),
            let elements = document.root.object?["keys"]?.array
        else { return nil }
        var keys: [String: RSAPublicKey] = [:]
        for element in elements.prefix(32) {
            guard let members = element.object, let (id, key) = Self.key(members) else { continue }
            guard keys.updateValue(key, forKey: id) == nil else { return nil }
        }
        guard !keys.isEmpty else { return nil }
        self.keys = keys
        freshMilliseconds = Self.freshSeconds(response.headers) * 1000
    }

    private static func key(_ members: JSONObject) -> (id: String, key: RSAPublicKey)? {
        guard members["kty"]?.string(equals: "RSA") == true,
            members["use"]?.string(equals: "sig") ?? true,
            members["alg"]?.string(equals: "RS256") ?? true,
            let id = members["kid"]?.string, (1...128).contains(id.utf8.count),
            let modulus = members["n"]?.stringBytes.flatMap(Base64.decodeURL),
            let exponent = members["e"]?.stringBytes.flatMap(Base64.decodeURL),
            let key = try? RSAPublicKey(modulus: modulus, exponent: exponent)
        else { return nil }
        return (id, key)
    }

    /// `max-age` less `Age`, held between a minute and a day; an hour where nothing is said.
    ///
    /// Source: RFC 9111 sections 4.2 and 5.2.2.
    private static func freshSeconds(_ headers: HeaderFields) -> Int64 {
        let directives = (headers.only("cache-control") ?? []).split(separator: UInt8(ascii: ",")).map { part in
            String(decoding: part, as: UTF8.self).filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        guard !directives.contains("no-store"), !directives.contains("no-cache") else { return shortestSeconds }
        let ages = directives.compactMap { $0.hasPrefix("max-age=") ? number($0.dropFirst(8)) : nil }
        guard let maximum = ages.min() else { return 3600 }
        let age = headers.only("age").flatMap { number(String(decoding: $0, as: UTF8.self)[...]) } ?? 0
        return min(max(maximum - age, shortestSeconds), longestSeconds)
    }

    private static func number(_ text: Substring) -> Int64? {
        (1...10).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }

    private static let shortestSeconds: Int64 = 60
    private static let longestSeconds: Int64 = 86_400
    private static let limits = JSONLimits(maximumBytes: 65_536, maximumDepth: 8, maximumNodes: 2048)
}
