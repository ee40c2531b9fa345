// SPDX-License-Identifier: Apache-2.0

/// A statement that inserts for one list of values, and could as well for many.
///
/// `INSERT INTO table (columns) VALUES (?, …)`, and `ON CONFLICT DO NOTHING` or `ON CONFLICT (columns) DO UPDATE …`; or
/// `INSERT INTO table (columns) SELECT … ON CONFLICT DO NOTHING`, where the values stand in the question.
struct PostgreSQLInsertion {
    let table: String
    /// So many of the first columns tell the rows of one statement apart, which must not meet the same row twice; 0 where
    /// that does no harm.
    let keyColumns: Int
    /// The question that finds the rows, if they are not given.
    let question: String?
    private let start: String
    private let end: String

    /// Nil for every other statement, and where the columns of the conflict are not the first ones, in their order.
    init?(_ text: PostgreSQLText) {
        let words = String(decoding: text.bytes.dropLast(), as: UTF8.self)
        guard text.parameterCount > 0, !words.contains("'"), !words.contains("\"") else { return nil }
        let places = (1...text.parameterCount).map { "$\($0)" }.joined(separator: ", ")
        guard let parts = Self.parts(of: words, around: "VALUES (\(places))") ?? Self.parts(ofSelecting: words),
            let opening = parts.start.firstIndex(of: "(")
        else { return nil }
        let beginning = parts.start[..<opening].split(whereSeparator: \.isWhitespace)
        guard beginning.count == 3, beginning[0] == "INSERT", beginning[1] == "INTO",
            let keyColumns = Self.keyColumns(parts.end, of: parts.start[opening...].dropFirst())
        else { return nil }
        (table, self.keyColumns) = (String(beginning[2]), keyColumns)
        (start, question, end) = (String(parts.start), parts.question.map { String($0) }, String(parts.end))
        // One that reads what it writes may have to find what the list before has added.
        if question?.contains("FROM \(table)") == true { return nil }
    }

    private typealias Parts = (start: Substring, question: Substring?, end: Substring)

    private static func parts(of words: String, around values: String) -> Parts? {
        let parts = words.split(separator: values, maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? (parts[0], nil, parts[1]) : nil
    }

    /// Only where conflicts do nothing: what a question finds can't be told apart beforehand.
    private static func parts(ofSelecting words: String) -> Parts? {
        let end = "ON CONFLICT DO NOTHING"
        guard words.hasSuffix(end), let select = words.firstRange(of: "SELECT ") else { return nil }
        return (words[..<select.lowerBound], words[select.lowerBound...].dropLast(end.count), words.suffix(end.count))
    }

    /// How many of the first columns are those of the conflict.
    private static func keyColumns(_ end: Substring, of columns: Substring) -> Int? {
        let words = end.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        if words.isEmpty || words == "ON CONFLICT DO NOTHING" { return 0 }
        let beginning = "ON CONFLICT ("
        guard words.hasPrefix(beginning), let closing = words.firstIndex(of: ")") else { return nil }
        let key = words[..<closing].dropFirst(beginning.count)
        guard columns.hasPrefix(key), [",", ")"].contains(columns.dropFirst(key.count).first) else { return nil }
        return key.count { $0 == "," } + 1
    }

    /// The statement for many lists.
    func text(_ samples: [SQLValue]) -> PostgreSQLText {
        let given = samples.indices.map { PostgreSQLText.given(samples[$0], $0) }
        let lists = PostgreSQLText.unnest(samples)
        guard let question else {
            return PostgreSQLText("\(start)SELECT \(given.joined(separator: ", ")) FROM \(lists)\(end)")
        }
        // The greatest first: $1 begins $10.
        let asked = given.indices.reversed().reduce(question) { $0.replacing("$\($1 + 1)", with: given[$1]) }
        return PostgreSQLText(
            "\(start)SELECT answer.* FROM \(lists) CROSS JOIN LATERAL (\(asked) OFFSET 0) AS answer \(end)"
        )
    }
}

extension PostgreSQLText {
    /// The same question for many lists of values; the last column of the answer is the list's place, from 1.
    ///
    /// `OFFSET 0` keeps the planner from taking the question apart: it is answered for one list after the other, with the
    /// indexes that one question alone is answered with.
    init(asking text: SQLText, _ samples: [SQLValue]) {
        let question = PostgreSQLText(text) { Self.given(samples[$0], $0) }
        let words = String(decoding: question.bytes.dropLast(), as: UTF8.self)
        let given = Self.unnest(samples, numbered: true)
        self.init("SELECT answer.*, given.place FROM \(given) CROSS JOIN LATERAL (\(words) OFFSET 0) AS answer")
    }

    /// A value of the list at hand.
    fileprivate static func given(_ sample: SQLValue, _ place: Int) -> String {
        sample == .null ? "NULL" : "given.v\(place)"
    }

    /// The lists as rows.
    fileprivate static func unnest(_ samples: [SQLValue], numbered: Bool = false) -> String {
        let places = samples.indices.filter { samples[$0] != .null }
        let arrays = places.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let names = (places.map { "v\($0)" } + (numbered ? ["place"] : [])).joined(separator: ", ")
        return "unnest(\(arrays))\(numbered ? " WITH ORDINALITY" : "") AS given (\(names))"
    }
}
