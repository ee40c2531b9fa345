// SPDX-License-Identifier: Apache-2.0
package import JSON
package import OfferDomain

// Each says by its label how it writes: without one, a file's own way of writing such a value would give way to these.
extension JSONWriter {
    /// A UUID in lowercase.
    package mutating func member(_ name: StaticString, id value: UniqueID) {
        member(name, upTo: UniqueID.textBytes) { value.append(to: &$0) }
    }

    /// A time as RFC 3339 writes it.
    package mutating func member(_ name: StaticString, rfc3339 value: Timestamp) {
        member(name, upTo: Timestamp.mostRFC3339Bytes) { value.appendRFC3339(to: &$0) }
    }

    /// A time as RFC 3339 writes it.
    package mutating func string(rfc3339 value: Timestamp) {
        string(upTo: Timestamp.mostRFC3339Bytes) { value.appendRFC3339(to: &$0) }
    }
}

extension JSONTree {
    /// A time as RFC 3339 writes it.
    package static func instant(_ value: Timestamp) -> JSONTree { .text(value.rfc3339) }
}
