// SPDX-License-Identifier: Apache-2.0
import JSON
package import OfferDomain

/// Writes entries of the audit log: canonical JSON (RFC 8785), at most 4 KiB, nothing personal in the clear.
///
/// Member names are in the order of their code units, as RFC 8785 requires. An entry holds the digest that is signed,
/// never the signature. A signature leads to its entry, but an entry reveals no signature.
package enum AuditEntry {
    /// The largest entry.
    package static let maximumBytes = 4096

    /// The bytes of one entry.
    ///
    /// `recordedAt` is when it is written, never earlier than the entry before it.
    package static func bytes(of event: AuditEvent, recordedAt: Timestamp) -> [UInt8] {
        var writer = JSONWriter(reserving: 768)
        writer.beginObject()
        switch event {
        case .signature(let record): write(record, of: event, at: recordedAt, to: &writer)
        case .authorization(let record): write(record, of: event, at: recordedAt, to: &writer)
        case .refusal(let record): write(record, of: event, at: recordedAt, to: &writer)
        default: writeEvent(event, at: recordedAt, to: &writer)
        }
        writer.endObject()
        return writer.bytes
    }

    /// When an entry was written, from its bytes.
    package static func recordedMilliseconds(_ entry: [UInt8]) -> Int64? { beginning(of: entry).recordedMilliseconds }

    /// When an entry was written and which event it records, from its bytes; `nil` if it does not say.
    static func beginning(of entry: [UInt8]) -> (recordedMilliseconds: Int64?, event: AuditEventName?) {
        let members = (try? JSONDocument(entry))?.root.object
        return (members?["t"]?.integer, members?["ev"]?.string.flatMap { AuditEventName(rawValue: $0) })
    }

    private static func writeEvent(_ event: AuditEvent, at recordedAt: Timestamp, to writer: inout JSONWriter) {
        var members = details(of: event)
        members.append(("ev", .text(event.name.rawValue)))
        members.append(("t", .integer(recordedAt.milliseconds)))
        members.append(("v", .integer(1)))
        write(members, &writer)
    }

    private static func write(_ members: [Member], _ writer: inout JSONWriter) {
        for (name, value) in members.sorted(by: { $0.name < $1.name }) {
            writer.name(text: name)
            write(value, &writer)
        }
    }

    private static func write(_ value: Detail, _ writer: inout JSONWriter) {
        switch value {
        case .text(let text): writer.string(text)
        case .integer(let integer): writer.integer(integer)
        case .boolean(let boolean): writer.boolean(boolean)
        case .list(let values):
            writer.beginArray()
            for value in values { write(value, &writer) }
            writer.endArray()
        case .object(let names, let values):
            writer.beginObject()
            write(Array(zip(names, values)), &writer)
            writer.endObject()
        }
    }

    typealias Member = (name: String, value: Detail)

    /// A value of an entry that is no decision.
    enum Detail {
        case text(String)
        case integer(Int64)
        case boolean(Bool)
        case list([Detail])
        /// As many values as names; the compiler admits no list of pairs here.
        case object(names: [String], values: [Detail])

        static func object(_ members: [Member]) -> Detail {
            .object(names: members.map(\.name), values: members.map(\.value))
        }
    }
}
