// SPDX-License-Identifier: Apache-2.0

extension PostgreSQLText {
    /// The statement that inserts for many lists of values.
    init(_ insertion: Insertion, _ samples: [SQLValue]) {
        let lists = Self.unnest(samples)
        let rows: String
        if let select = insertion.select {
            let asked = Self.asking(select, samples)
            rows = "SELECT answer.* FROM \(lists) CROSS JOIN LATERAL (\(asked) OFFSET 0) AS answer"
        } else {
            let values = samples.indices.map { Self.given(samples[$0], $0) }.joined(separator: ", ")
            rows = "SELECT \(values) FROM \(lists)"
        }
        self.init("\(insertion.start)\(rows) \(insertion.end)")
    }

    /// The same question for many lists of values; the last column of the answer is the list's place, from 1.
    ///
    /// `OFFSET 0` keeps the planner from taking the question apart: it is answered for one list after the other, with the
    /// indexes that one question alone is answered with.
    init(asking text: SQLText, _ samples: [SQLValue]) {
        let given = Self.unnest(samples, numbered: true)
        let asked = Self.asking(text, samples)
        self.init("SELECT answer.*, given.place FROM \(given) CROSS JOIN LATERAL (\(asked) OFFSET 0) AS answer")
    }

    /// The question, with columns of the list in place of its placeholders.
    private static func asking(_ text: SQLText, _ samples: [SQLValue]) -> String {
        String(decoding: PostgreSQLText(text) { given(samples[$0], $0) }.bytes.dropLast(), as: UTF8.self)
    }

    /// The column that has a value of the list.
    private static func given(_ sample: SQLValue, _ place: Int) -> String {
        sample == .null ? "NULL" : "given.v\(place)"
    }

    /// The lists as rows.
    private static func unnest(_ samples: [SQLValue], numbered: Bool = false) -> String {
        let places = samples.indices.filter { samples[$0] != .null }
        let arrays = places.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let names = (places.map { "v\($0)" } + (numbered ? ["place"] : [])).joined(separator: ", ")
        return "unnest(\(arrays))\(numbered ? " WITH ORDINALITY" : "") AS given (\(names))"
    }
}
