// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain
import ServiceRuntime

/// An entry as one row of a table, for people; a missing value is a dash.
package struct EntryRow {
    /// The row without a line feed; control characters are escaped, so that a terminal shows them.
    package let line: String

    private static let columns: [(title: String, width: Int)] = [
        ("INDEX", 8), ("TIME", 24), ("EVENT", 20), ("CALLER", 16), ("KEY", 10), ("OFFER", 20), ("OUTCOME", 11),
    ]

    /// The heading of the table.
    package static let header = line(columns.map(\.title) + ["WHY"])

    package init(_ index: Int64, _ entry: [UInt8]) {
        let object = (try? JSONDocument(entry))?.root.object
        let time = object?["t"]?.integer.map { Timestamp(milliseconds: $0).rfc3339 }
        let members = ["ev", "caller", "kid", "offer", "outcome"].map { object?[$0]?.string }
        let why = object?["why"]?.array?.compactMap { $0.object }.map { reason in
            [reason["rule"]?.string, reason["code"]?.string].compactMap(\.self).joined(separator: ": ")
        }
        let reason = why?.joined(separator: ", ") ?? object?["reason"]?.string
        line = Self.line(([String(index), time] + members + [reason]).map { HiddenCharacters.escaped($0 ?? "-") })
    }

    private static func line(_ cells: [String]) -> String {
        var line = ""
        for (cell, column) in zip(cells, columns) {
            line += cell + String(repeating: " ", count: max(0, column.width - cell.count)) + "  "
        }
        return line + (cells.last ?? "")
    }
}
