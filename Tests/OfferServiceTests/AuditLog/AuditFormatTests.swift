// SPDX-License-Identifier: Apache-2.0
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// What leaves as a file does no harm where it is opened.
struct AuditFormatTests {
    /// A text, and its cell.
    static let cells: [(text: String, cell: String)] = [
        ("plain", "plain"), ("", ""), ("a,b", "\"a,b\""), ("say \"no\"", "\"say \"\"no\"\"\""),
        ("=1+2", "'=1+2"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"), ("\t=1", "'\\u0009=1"),
        ("\r=1", "'\\u000d=1"), ("\n=1", "'\\u000a=1"), (" =1", "' =1"), ("＝1", "'＝1"), ("a=1", "a=1"),
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""),
        ("a\r\nb", "a\\u000d\\u000ab"), ("a\u{0}b", "a\\u0000b"), ("a\u{1B}[31m", "a\\u001b[31m"),
        ("invoice\u{202E}fdp.exe", "invoice\\u202efdp.exe"), ("\u{2066}a\u{2069}", "\\u2066a\\u2069"),
        ("a\u{200B}b\u{FEFF}", "a\\u200bb\\ufeff"), ("a\u{2028}b\u{2029}", "a\\u2028b\\u2029"),
        ("\u{E0001}x", "\\udb40\\udc01x"), ("\u{85}x", "\\u0085x"), ("Zoë 😀 日本", "Zoë 😀 日本"),
        ("\u{200B}=1", "\\u200b=1"), ("a\u{2063}b", "a\\u2063b"),
    ]

    @Test(arguments: cells.indices)
    func `writes cells that no spreadsheet computes and nothing hides in`(row: Int) throws {
        let (text, cell) = Self.cells[row]
        var entry = Array("{\"caller\":".utf8) + Self.json(text) + Array(",\"ev\":\"x\",\"t\":123,\"v\":1}".utf8)
        var line: [UInt8] = []
        AuditFormat.csv.append(7, entry, to: &line)
        entry.removeAll()
        let start = "7,1970-01-01T00:00:00.123Z,x,,\(cell),"
        let shown = String(decoding: line, as: UTF8.self)
        #expect(shown.hasPrefix(start), "\(shown)")
        #expect(shown.hasSuffix("\r\n"))
        #expect(
            !shown.dropLast().unicodeScalars.contains { $0.properties.generalCategory == .format || $0.value < 0x20 }
        )
    }

    @Test(arguments: [
        ("\u{9B}31m", "\\u009b31m"), ("a\u{202E}b", "a\\u202eb"), ("\u{E0001}", "\\udb40\\udc01"),
        ("Zoë 😀", "Zoë 😀"),
    ])
    func `writes objects of a changed entry in which nothing hides`(text: String, shown: String) throws {
        let entry = #"{"caller":"\#(text)","ev":"x","t":123,"v":1}"#
        for format in [AuditFormat.json, .ndjson] {
            var line: [UInt8] = []
            format.append(7, Array(entry.utf8), to: &line)
            let expected = #"{"index":7,"entry":\#(entry.replacing(text, with: shown))}"#
            #expect(String(decoding: line, as: UTF8.self) == expected + "\n")
        }
    }

    /// Every scalar but ASCII escaped, so that none is lost on the way.
    private static func json(_ text: String) -> [UInt8] {
        let units = text.utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return Array("\"\(units.joined())\"".utf8)
    }

    @Test func `is read back by Python's readers of CSV and JSON with all that is recorded`() async throws {
        try await withService { service async throws in
            for customer in ["ada", "grace"] {
                _ = try await service.sign(offer: "open", #""customerId": "\#(customer)", "formats": ["v1", "jws"]"#)
            }
            try await service.transfer(from: "device-1", to: "ada")
            let entries = try service.entries()
            var csv = AuditFormat.csv.head
            var lines: [UInt8] = []
            for (index, entry) in entries.enumerated() {
                AuditFormat.csv.append(Int64(index), Array(entry.utf8), to: &csv)
                AuditFormat.ndjson.append(Int64(index), Array(entry.utf8), to: &lines)
            }
            let rows = try await Python.csv(String(decoding: csv, as: UTF8.self))
            #expect(rows.first == AuditFormat.columns)
            #expect(rows.dropFirst().map(\.last) == entries)
            #expect(rows.dropFirst().map(\.[0]) == entries.indices.map(String.init))
            for (row, entry) in zip(rows.dropFirst(), try entries.map(Tree.init)) {
                #expect(row[2] == entry["ev"].text && row[3] == entry["kid"].text ?? "")
                let users = entry["users"].elements.compactMap(\.text).joined(separator: " ")
                #expect(row[11] == users)
            }
            let objects = try String(decoding: lines, as: UTF8.self).split(separator: "\n").map { try Tree(String($0)) }
            #expect(objects.map(\.["entry"]) == (try entries.map(Tree.init)))
            #expect(objects.map(\.["index"].integer) == entries.indices.map(Int64.init))
        }
    }
}
