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
        // Between a minute and a day; an hour where nothing is said.
        let seconds = min(max(response.maximumAgeSeconds ?? 3600, Self.shortestSeconds), Self.longestSeconds)
        freshMilliseconds = seconds * 1000
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

    private static let shortestSeconds: Int64 = 60
    private static let longestSeconds: Int64 = 86_400
    private static let limits = JSONLimits(maximumBytes: 65_536, maximumDepth: 8, maximumNodes: 2048)
}
