// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import Ledger
import OfferDomain

/// Where a page of a query ended, as callers are given it and bring it back: opaque, and of use for that query alone.
///
/// 25 bytes in base64url: a version, the position, and two halves of a code over both and the query. The code makes a
/// slip or a mix-up noticed; a cursor opens nothing that the query would not.
package enum AuditCursor {
    private static let version: UInt8 = 1

    /// The text for a position.
    package static func text(_ position: Int64, of query: AuditQuery, _ key: SipHashKey) -> String {
        let head = [version] + UInt64(bitPattern: position).littleEndianBytes
        return String(decoding: Base64.encodeURL(head + code(of: head, for: query, key: key)), as: UTF8.self)
    }

    /// The position; nil for a text that was not given out for this query.
    package static func position(_ text: String, of query: AuditQuery, _ key: SipHashKey) -> Int64? {
        guard let bytes = Base64.decodeURL(Array(text.utf8)), bytes.count == 25, bytes[0] == version else { return nil }
        let head = Array(bytes[..<9])
        guard code(of: head, for: query, key: key).elementsEqual(bytes[9...]) else { return nil }
        return Int64(bitPattern: head[1...].reversed().reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The limit is no part of it: pages may differ in length.
    private static func code(of head: [UInt8], for query: AuditQuery, key: SipHashKey) -> [UInt8] {
        var message = Array("cursor".utf8) + head + Array(query.order.rawValue.utf8)
        for instant in [query.from, query.until] {
            message.append(instant == nil ? 0 : 1)
            message += UInt64(bitPattern: instant?.milliseconds ?? 0).littleEndianBytes
        }
        for field in AuditQuery.Field.allCases {
            guard let wanted = query.fields[field] else { continue }
            message += Array(field.rawValue.utf8) + UInt64(wanted.utf8.count).littleEndianBytes + Array(wanted.utf8)
        }
        if let reason = query.reason { message += Array("reason=\(reason.rawValue);".utf8) }
        for event in query.excludedEvents.map(\.rawValue).sorted() { message += Array("without=\(event);".utf8) }
        let first = key.code(of: message)
        return first.littleEndianBytes + key.code(of: message + first.littleEndianBytes).littleEndianBytes
    }
}
