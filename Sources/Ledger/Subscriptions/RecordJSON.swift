// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import OfferDomain

// How the ledger writes what it keeps of the stores' reports: JSON with the stores' names and values where there are
// any, what is absent left out, so that an auditor can read a row. Times are milliseconds since 1970.

extension JSONWriter {
    mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        self.name(name)
        string(text)
    }

    mutating func member(_ name: StaticString, _ instant: Timestamp?) {
        guard let instant else { return }
        self.name(name)
        integer(instant.milliseconds)
    }

    mutating func member(_ name: StaticString, _ flag: Bool?) {
        guard let flag else { return }
        self.name(name)
        boolean(flag)
    }

    /// What is false is left out.
    mutating func flag(_ name: StaticString, _ flag: Bool) { member(name, flag ? true : nil) }

    /// What is absent is left out.
    mutating func object<Value>(
        _ name: StaticString,
        _ value: Value?,
        write: (Value, inout JSONWriter) -> Void
    ) {
        guard let value else { return }
        self.name(name)
        beginObject()
        write(value, &self)
        endObject()
    }

    /// What is empty is left out.
    mutating func array<Element>(
        _ name: StaticString,
        _ elements: [Element],
        write: (Element, inout JSONWriter) -> Void
    ) {
        guard !elements.isEmpty else { return }
        self.name(name)
        beginArray()
        for element in elements { write(element, &self) }
        endArray()
    }

    /// A whole record; `reserving` is about how many bytes it has.
    static func record(reserving bytes: Int, _ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter(reserving: bytes)
        writer.beginObject()
        write(&writer)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension OpaqueKey {
    /// The key within a record.
    var recordText: String { String(decoding: Base64.encodeURL(bytes), as: UTF8.self) }
}

extension JSONObject {
    /// Reads what `JSONWriter.record` wrote; `nil` if it is not a JSON object.
    init?(record: String) {
        guard let object = (try? JSONDocument(Array(record.utf8), limits: Self.limits))?.root.object else { return nil }
        self = object
    }

    private static let limits = JSONLimits(maximumBytes: 1024 * 1024, maximumNodes: 20_000, maximumStringBytes: 1024)

    func text(_ name: String) -> String? { self[name]?.string }

    func texts(_ name: String) -> [String] { self[name]?.array?.compactMap(\.string) ?? [] }

    func instant(_ name: String) -> Timestamp? { self[name]?.integer.map(Timestamp.init(milliseconds:)) }

    func instants(_ name: String) -> [Timestamp] {
        self[name]?.array?.compactMap(\.integer).map(Timestamp.init(milliseconds:)) ?? []
    }

    /// What is absent is false.
    func flag(_ name: String) -> Bool { self[name]?.bool ?? false }

    func reported<Known: StoreCode>(_ name: String) -> Reported<Known>? { text(name).map(Reported.init) }
}
