// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import Ledger

/// Turns values of fields into the keys under which the index has them.
///
/// Keyed, because callers choose some of the values.
package struct IndexTermKeys: Hashable, Sendable {
    let hash: SipHashKey
    let format: AuditIndexFormat

    package init(hash: SipHashKey, format: AuditIndexFormat) {
        self.hash = hash
        self.format = format
    }

    /// The key of one value of one field.
    func key(_ field: AuditQuery.Field, _ value: Span<UInt8>) -> UInt64 {
        hash.code(of: value, followedBy: field.indexNumber) >> UInt64(64 - format.keyBits)
    }

    /// The keys for a condition: every entry that meets it has at least one of them.
    func keys(of field: AuditQuery.Field, _ wanted: String) -> [UInt64] {
        var keys = [key(field, wanted.utf8.span)]
        if field == .user, let end = AuditQuery.transferKey(ofUser: wanted) {
            keys.append(key(field, end.utf8.span))
        }
        return keys
    }
}

extension AuditQuery.Field {
    /// Identifies the field in a stored index, so these numbers never change.
    fileprivate var indexNumber: UInt8 {
        switch self {
        case .event: 1
        case .key: 2
        case .caller: 3
        case .bundle: 4
        case .package: 5
        case .product: 6
        case .offer: 7
        case .rule: 8
        case .outcome: 9
        case .user: 10
        case .grant: 11
        case .nonce: 12
        case .digest: 13
        case .request: 14
        }
    }
}
