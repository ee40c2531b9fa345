// SPDX-License-Identifier: Apache-2.0
import Ledger

/// A cache of the keys of recent values, for fields with values that repeat often.
///
/// A lookup here takes a fraction of the time of the hash.
struct RecentKeys: Sendable {
    private struct Known: Sendable {
        let field: AuditQuery.Field
        let value: ShortValue
        let key: UInt64
    }

    private let keys: IndexTermKeys
    /// One value for each hash slot.
    private var known: [Known?] = Array(repeating: nil, count: 64)

    init(keys: IndexTermKeys) {
        self.keys = keys
    }

    /// What ``IndexTermKeys/key(_:_:)`` gives.
    @inline(__always)
    mutating func key(_ field: AuditQuery.Field, _ value: Span<UInt8>) -> UInt64 {
        guard field.comesAgain, let short = ShortValue(value) else { return keys.key(field, value) }
        let place = short.place
        if let known = known[place], known.value == short, known.field == field { return known.key }
        let key = keys.key(field, value)
        known[place] = Known(field: field, value: short, key: key)
        return key
    }
}

extension AuditQuery.Field {
    /// Whether the field mostly has one of a few values; other fields differ in nearly every entry.
    @inline(__always)
    fileprivate var comesAgain: Bool {
        switch self {
        case .event, .key, .caller, .bundle, .package, .product, .offer, .rule, .outcome: true
        case .user, .grant, .nonce, .digest, .request: false
        }
    }
}

/// A value of up to 32 bytes, in words that overlap where it is shorter.
private struct ShortValue: Sendable {
    private let count: Int
    private let words: (UInt64, UInt64, UInt64, UInt64)

    @inline(__always)
    init?(_ value: Span<UInt8>) {
        guard value.count <= 32 else { return nil }
        count = value.count
        guard value.count >= 8 else {
            words = (value.rest, 0, 0, 0)
            return
        }
        let last = value.count - 8
        words = (
            value.word(at: 0), value.word(at: min(8, last)), value.word(at: min(16, last)), value.word(at: last)
        )
    }

    @inline(__always)
    static func == (left: ShortValue, right: ShortValue) -> Bool {
        left.count == right.count && left.words == right.words
    }

    /// Its place among 64.
    @inline(__always)
    var place: Int {
        Int(((words.0 ^ words.3).mixed ^ (words.1 ^ UInt64(count)).mixed ^ words.2).mixed >> 58)
    }
}
