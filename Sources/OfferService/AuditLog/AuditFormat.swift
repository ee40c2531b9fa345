// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// How entries are written for whoever asks for them.
package enum AuditFormat: String, CaseIterable, Hashable, Sendable {
    /// One object for the whole answer; the commands write a line for each entry instead.
    case json
    /// RFC 4180, with ``columns``.
    case csv
    /// One object a line.
    case ndjson

    package var mediaType: String {
        switch self {
        case .json: "application/json"
        case .csv: "text/csv; charset=utf-8; header=present"
        case .ndjson: "application/x-ndjson"
        }
    }

    /// What each column of CSV has, by its name: `index`, `time`, a member, and at last the whole entry.
    package static let columns = ["index", "time"] + AuditQuery.Field.allCases.map(\.rawValue) + ["entry"]

    /// What comes before the first entry.
    package var head: [UInt8] {
        guard self == .csv else { return [] }
        return Array(Self.columns.joined(separator: ",").utf8) + [0x0D, 0x0A]
    }

    /// Appends one entry with the end of its line.
    package func append(_ index: Int64, _ entry: [UInt8], to text: inout [UInt8]) {
        switch self {
        case .json, .ndjson:
            text += Array("{\"index\":\(index),\"entry\":".utf8) + HiddenCharacters.escaped(entry) + Array("}\n".utf8)
        case .csv:
            let cells = Self.cells(index, entry).map { CSVCell($0).bytes }
            text += Array(cells.joined(separator: [UInt8(ascii: ",")])) + [0x0D, 0x0A]
        }
    }

    private static func cells(_ index: Int64, _ entry: [UInt8]) -> [String] {
        let object = (try? JSONDocument(entry))?.root.object
        let time = object?["t"]?.integer.map { Timestamp(milliseconds: $0).rfc3339 } ?? ""
        let members = AuditQuery.Field.allCases.map { field in
            let value = object?[field.member]
            return value?.string ?? value?.array?.compactMap(\.string).joined(separator: " ") ?? ""
        }
        return [String(index), time] + members + [String(decoding: entry, as: UTF8.self)]
    }
}

/// A cell of a CSV file that no spreadsheet takes for a formula and no terminal for a command.
///
/// A cell that begins as formulas do gets an apostrophe in front. Characters that are not seen, or that change how others
/// are shown, are written as `\uXXXX`, which is what they are in JSON.
struct CSVCell {
    /// The cell's UTF-8, in quotes where RFC 4180 wants them.
    let bytes: [UInt8]

    init(_ text: String) {
        var shown = HiddenCharacters.escaped(text)
        // Before anything is escaped: a tabulator in front makes a formula too.
        if let first = text.unicodeScalars.first, Self.beginsFormula(first) { shown = "'" + shown }
        let needsQuotes = shown.utf8.contains { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }
        let quote = UInt8(ascii: "\"")
        bytes =
            needsQuotes
            ? [quote] + shown.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote] : Array(shown.utf8)
    }

    /// The characters themselves, in full width too, and white space, which some programs drop.
    private static func beginsFormula(_ scalar: Unicode.Scalar) -> Bool {
        ["=", "+", "-", "@", "\t", "\r", "\n", " ", "＝", "＋", "－", "＠"].contains(scalar)
    }
}
