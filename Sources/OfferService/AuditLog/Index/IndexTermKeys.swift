// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import JSON

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
    func key(_ field: AuditQuery.Field, _ value: ArraySlice<UInt8>) -> UInt64 {
        hash.code(of: value.span, followedBy: field.indexNumber) >> UInt64(64 - format.keyBits)
    }

    /// Gives every key under which an entry is to be found; ``AuditQuery/matches(_:)`` is what they follow.
    func eachKey(of entry: JSONObject, _ each: (UInt64) -> Void) {
        for member in entry {
            let length = member.nameLength
            guard length < Self.fieldsByLength.count,
                let field = Self.fieldsByLength[length].first(where: { member.isNamed($0.member) })
            else { continue }
            let value = member.value
            if let text = value.stringSlice {
                each(key(field, text))
            } else if let list = value.array {
                for case let text? in list.lazy.map(\.stringSlice) { each(key(field, text)) }
            }
        }
        for caller in AuditQuery.countedCallers(entry) {
            if let text = caller.stringSlice { each(key(.caller, text)) }
        }
        for end in AuditQuery.transferEnds {
            if let text = entry[end]?.stringSlice { each(key(.user, text)) }
        }
    }

    /// The keys of which every entry that meets the condition has at least one.
    func keys(of field: AuditQuery.Field, _ wanted: String) -> [UInt64] {
        var keys = [key(field, Array(wanted.utf8)[...])]
        if field == .user, let end = AuditQuery.transferKey(ofUser: wanted) {
            keys.append(key(field, Array(end.utf8)[...]))
        }
        return keys
    }

    /// The fields whose members have a name of that many bytes: few names are compared with each member's.
    private static let fieldsByLength: [[AuditQuery.Field]] = {
        let fields = AuditQuery.Field.allCases
        let longest = fields.map(\.member.utf8.count).max() ?? 0
        return (0...longest).map { length in fields.filter { $0.member.utf8.count == length } }
    }()
}

extension AuditQuery.Field {
    /// Tells fields apart in a stored index, so these numbers are never changed.
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
