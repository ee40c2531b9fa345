// SPDX-License-Identifier: Apache-2.0
package import JSON

/// The keys that a provider publishes, as a JSON Web Key Set.
///
/// Source: RFC 7517 section 5.
package struct TokenKeySet: Sendable {
    /// Those that can verify tokens here, in their order.
    package let keys: [TokenKey]
    /// Why others were passed over, by their places.
    package let unusable: [(place: Int, fault: TokenKeyFault)]

    /// Of the whole set.
    package static let maximumBytes = 65_536
    /// Keys in a set.
    package static let mostKeys = 32
    /// How many keys are tried for a token without a `kid`.
    package static let mostTried = 4

    private static let limits = JSONLimits(
        maximumBytes: maximumBytes,
        maximumDepth: 8,
        maximumNodes: 4096,
        maximumStringBytes: maximumBytes
    )

    /// Reads a set; keys that can't be used here are passed over, as a provider may add some.
    package init(_ text: [UInt8]) throws(TokenKeySetFault) {
        let document: JSONDocument
        do { document = try JSONDocument(text, limits: Self.limits) } catch { throw .notJSON(error) }
        guard let elements = document.root.object?["keys"]?.array else { throw .noKeys }
        guard elements.count <= Self.mostKeys else { throw .tooManyKeys }
        var keys: [TokenKey] = []
        var unusable: [(place: Int, fault: TokenKeyFault)] = []
        for (place, element) in elements.enumerated() {
            do throws(TokenKeyFault) {
                keys.append(try TokenKey(element))
            } catch {
                unusable.append((place, error))
            }
        }
        let ids = keys.compactMap(\.id)
        guard Set(ids).count == ids.count else { throw .repeatedID }
        guard !keys.isEmpty else { throw .noneUsable }
        self.keys = keys
        self.unusable = unusable
    }

    /// The keys that may have signed the token: the one of its `kid`, or without one the first few that fit.
    package func candidates(for token: JSONWebToken) -> ArraySlice<TokenKey> {
        let fitting = keys.filter { $0.algorithms.contains(token.algorithm) }
        guard let id = token.keyID else { return fitting.prefix(Self.mostTried) }
        return fitting.filter { $0.id.map { $0.utf8.elementsEqual(id.utf8) } ?? false }.prefix(1)
    }
}

/// Why an answer is no set of keys; these are all the ways.
package enum TokenKeySetFault: Error, Hashable, Sendable, CustomStringConvertible {
    case notJSON(JSONError)
    case noKeys
    case tooManyKeys
    case repeatedID
    case noneUsable

    /// A phrase for the log, without a full stop.
    package var description: String {
        switch self {
        case .notJSON(let error):
            "the key set is not strict JSON of at most \(TokenKeySet.maximumBytes) bytes: \(error)"
        case .noKeys: "the key set has no array “keys”"
        case .tooManyKeys: "the key set has more than \(TokenKeySet.mostKeys) keys"
        case .repeatedID: "the key set has two keys of one kid"
        case .noneUsable: "the key set has no key that can verify ES256, RS256, PS256 or EdDSA"
        }
    }
}
