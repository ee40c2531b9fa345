// SPDX-License-Identifier: Apache-2.0
import JSON
import Ledger

/// What the index takes from one entry, as ranges of its bytes; one value is reused for each entry.
struct IndexedEntry: Sendable {
    /// The range of a string, without its quotes.
    struct Place: Sendable {
        let start: Int
        let end: Int

        var range: Range<Int> { start..<end }
    }

    /// What a member's value is to the index.
    enum Member: Sendable {
        /// Strings under which the entry is to be found.
        case field(AuditQuery.Field)
        case time
        /// What blocked the offer, other than the rules.
        case fault
        /// Whether it may be had, where something is signed either way.
        case allow
        /// Who did what was counted, and how often.
        case counts
        /// One side of a transfer.
        case transferEnd
        /// The findings.
        case why

        /// By name; none is longer than 8 bytes.
        static let names: [(name: String, member: Member)] =
            AuditQuery.Field.allCases.map { ($0.member, .field($0)) }
            + AuditQuery.transferEnds.map { ($0, .transferEnd) }
            + [("t", .time), ("fault", .fault), ("allow", .allow), ("counts", .counts), ("why", .why)]
    }

    /// The values under which the entry is to be found; `AuditQuery.matches(_:)` is what they follow.
    private(set) var terms: [(field: AuditQuery.Field, value: Place)] = []
    /// Milliseconds since 1970 UTC.
    private(set) var time: Int64?
    private(set) var event: Place?
    private(set) var key: Place?
    private(set) var grant: Place?
    private(set) var rule: Place?
    private(set) var outcome: Place?
    private(set) var fault: Place?
    private(set) var codes: [Place] = []
    private(set) var isDenied = false

    /// Forgets what was read.
    mutating func reset() {
        terms.removeAll(keepingCapacity: true)
        if !codes.isEmpty { codes.removeAll(keepingCapacity: true) }
        (time, event, key, grant, rule, outcome, fault) = (nil, nil, nil, nil, nil, nil, nil)
        isDenied = false
    }

    /// Takes a member that is a string.
    mutating func note(_ member: Member, _ value: Place) {
        switch member {
        case .field(let field):
            terms.append((field, value))
            switch field {
            case .event: event = value
            case .key: key = value
            case .grant: grant = value
            case .rule: rule = value
            case .outcome: outcome = value
            default: break
            }
        case .transferEnd: terms.append((.user, value))
        case .fault: fault = value
        case .time, .allow, .counts, .why: break
        }
    }

    /// Takes a string of a list.
    mutating func note(element value: Place, of member: Member) {
        if case .field(let field) = member { terms.append((field, value)) }
    }

    /// Takes a string out of an object of a list.
    mutating func note(_ detail: Detail, _ value: Place, of member: Member) {
        switch (member, detail) {
        case (.counts, .caller): terms.append((.caller, value))
        case (.why, .code): codes.append(value)
        default: break
        }
    }

    /// The members of objects in lists that matter.
    enum Detail { case caller, code }

    mutating func note(_ member: Member, _ value: Int64) {
        if case .time = member { time = value }
    }

    mutating func note(_ member: Member, _ value: Bool) {
        if case .allow = member { isDenied = !value }
    }
}

extension IndexedEntry {
    /// Reads any entry; the places are those in what is appended to `text`.
    mutating func read(_ entry: JSONObject, into text: inout [UInt8]) {
        for (name, member) in Member.names {
            guard let value = entry[name] else { continue }
            if let string = value.stringSlice {
                note(member, text.place(of: string))
            } else if let integer = value.integer {
                note(member, integer)
            } else if let bool = value.bool {
                note(member, bool)
            } else if let list = value.array {
                for element in list { read(element, of: member, into: &text) }
            }
        }
    }

    private mutating func read(_ element: JSONValue, of member: Member, into text: inout [UInt8]) {
        if let string = element.stringSlice { note(element: text.place(of: string), of: member) }
        guard let object = element.object else { return }
        if let caller = object["caller"]?.stringSlice { note(.caller, text.place(of: caller), of: member) }
        if let code = object["code"]?.stringSlice { note(.code, text.place(of: code), of: member) }
    }
}

extension [UInt8] {
    /// Appends a string, and answers where it is.
    fileprivate mutating func place(of string: ArraySlice<UInt8>) -> IndexedEntry.Place {
        let start = count
        append(contentsOf: string)
        return IndexedEntry.Place(start: start, end: count)
    }
}
