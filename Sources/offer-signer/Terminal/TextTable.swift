// SPDX-License-Identifier: Apache-2.0

/// Rows with aligned columns under a heading, for people.
struct TextTable {
    private let header: [String]
    private var rows: [[String]] = []

    init(_ header: String...) { self.header = header }

    mutating func add(_ row: [String]) { rows.append(row) }

    var isEmpty: Bool { rows.isEmpty }

    /// One line each, the heading first; nothing follows the last cell.
    var lines: [String] {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let isLast = column == row.count - 1
                line += isLast ? cell : cell + String(repeating: " ", count: widths[column] - cell.count + 2)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}

/// How a list is written.
enum ListFormat: String {
    case text, table

    static let option = "--format"

    static func of(_ arguments: Arguments) throws(CommandError) -> ListFormat {
        try arguments.value(option, expecting: "text or table", ListFormat.init(rawValue:)) ?? .text
    }
}
