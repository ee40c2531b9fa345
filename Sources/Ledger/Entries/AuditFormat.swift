// SPDX-License-Identifier: Apache-2.0
package import JSON
import OfferDomain
import ServiceRuntime

/// The formats in which readers get entries.
package enum AuditFormat: String, CaseIterable, Hashable, Sendable {
    /// One object for the whole answer; the commands write a line for each entry instead.
    case json
    /// RFC 4180, with ``columns``.
    case csv
    /// One object a line.
    case ndjson

    /// The value of `Content-Type`; CSV has a header line (RFC 4180, section 3).
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

    /// Appends one entry and a line end; `object` spares parsing the entry again.
    package func append(_ index: Int64, _ entry: [UInt8], read object: JSONObject? = nil, to text: inout [UInt8]) {
        switch self {
        case .json, .ndjson:
            text += Array("{\"index\":\(index),\"entry\":".utf8)
            text += HiddenCharacters.escaped(entry)
            text += [UInt8(ascii: "}"), 0x0A]
        case .csv: Self.appendRow(index, entry, read: object ?? (try? JSONDocument(entry))?.root.object, to: &text)
        }
    }

    /// The members that have a column, by the length of their names: of most members, that alone says that they have none.
    private static let columnsByLength: [[(column: Int, name: String)]] = {
        let members = AuditQuery.Field.allCases.map(\.member)
        let longest = members.map(\.utf8.count).max() ?? 0
        return (0...longest).map { length in
            members.enumerated().filter { $0.element.utf8.count == length }.map { ($0.offset, $0.element) }
        }
    }()

    private static func appendRow(_ index: Int64, _ entry: [UInt8], read object: JSONObject?, to text: inout [UInt8]) {
        let comma = UInt8(ascii: ",")
        var time: Timestamp?
        var values = [JSONValue?](repeating: nil, count: AuditQuery.Field.allCases.count)
        if let object {
            for member in object {
                let length = member.nameLength
                if length == 1, member.isNamed("t") { time = member.value.integer.map(Timestamp.init(milliseconds:)) }
                guard length < columnsByLength.count else { continue }
                for (column, name) in columnsByLength[length] where member.isNamed(name) {
                    values[column] = member.value
                }
            }
        }
        text += String(index).utf8
        text.append(comma)
        text += (time?.rfc3339 ?? "").utf8
        for value in values {
            text.append(comma)
            if let slice = value?.stringSlice {
                CSVCell.append(slice, to: &text)
            } else if let array = value?.array {
                CSVCell.append(Array(array.compactMap(\.string).joined(separator: " ").utf8)[...], to: &text)
            }
        }
        text.append(comma)
        CSVCell.append(entry[...], to: &text)
        text += [0x0D, 0x0A]
    }
}

/// A cell of a CSV file that no spreadsheet takes for a formula and no terminal for a command.
///
/// A cell that begins like a formula gets an apostrophe in front. Characters that are invisible, or that change how
/// others are shown, are written as `\uXXXX`, as in JSON.
enum CSVCell {
    /// The cell's UTF-8, in quotes where RFC 4180 wants them.
    static func bytes(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        append(Array(text.utf8)[...], to: &bytes)
        return bytes
    }

    /// Appends the cell of a text in UTF-8.
    ///
    /// Nearly all cells are printable ASCII, in which nothing is hidden: one look at each byte is enough for them.
    static func append(_ utf8: ArraySlice<UInt8>, to text: inout [UInt8]) {
        guard let first = utf8.first else { return }
        let (isPlain, needsQuotes) = look(at: utf8.span)
        if isPlain, !needsQuotes, !beginsFormula(Unicode.Scalar(first)) {
            text += utf8
        } else if isPlain, !beginsFormula(Unicode.Scalar(first)) {
            appendQuoted(utf8, to: &text)
        } else {
            appendShown(String(decoding: utf8, as: UTF8.self), to: &text)
        }
    }

    /// Has no branch for each byte, so that one step checks many bytes.
    private static func look(at bytes: Span<UInt8>) -> (isPlain: Bool, needsQuotes: Bool) {
        var (hidden, quoted): (UInt8, UInt8) = (0, 0)
        for index in bytes.indices {
            let byte = bytes[index]
            hidden |= byte &- 0x20 > 0x5E ? 1 : 0
            quoted |= byte == 0x2C || byte == 0x22 ? 1 : 0
        }
        return (hidden == 0, quoted != 0)
    }

    private static func appendShown(_ original: String, to text: inout [UInt8]) {
        var shown = HiddenCharacters.escaped(original)
        // Before anything is escaped: a tabulator in front makes a formula too.
        if let first = original.unicodeScalars.first, beginsFormula(first) { shown = "'" + shown }
        let needsQuotes = shown.utf8.contains { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }
        let bytes = Array(shown.utf8)
        if needsQuotes { appendQuoted(bytes[...], to: &text) } else { text += bytes }
    }

    private static func appendQuoted(_ utf8: ArraySlice<UInt8>, to text: inout [UInt8]) {
        let quote = UInt8(ascii: "\"")
        text.append(quote)
        for byte in utf8 {
            if byte == quote { text.append(quote) }
            text.append(byte)
        }
        text.append(quote)
    }

    /// The characters themselves, in full width too, and white space, which some programs drop.
    private static func beginsFormula(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "=", "+", "-", "@", "\t", "\r", "\n", " ", "＝", "＋", "－", "＠": true
        default: false
        }
    }
}
