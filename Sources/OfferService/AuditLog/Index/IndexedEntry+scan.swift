// SPDX-License-Identifier: Apache-2.0
import JSON
import Ledger

/// Reading entries in one pass, without a document.
extension IndexedEntry {
    /// Reads an entry in the usual form; false for any other form, and then what was read must not be used.
    ///
    /// The accepted form is always valid JSON: no white space, ASCII without escapes, sorted names without repeats,
    /// integers, and lists that nest no deeper than objects.
    mutating func scan(_ entry: Span<UInt8>) -> Bool {
        var scan = EntryScan()
        let members = MemberTable.all
        return entry.count <= AuditEntry.maximumBytes
            && scan.object(entry) { scan, name in
                scan.value(of: members.member(named: name), entry, into: &self)
            } && scan.position == entry.count
    }
}

/// Goes over the bytes of one entry.
private struct EntryScan {
    private(set) var position = 0
    /// The number of values and names, which is limited for each document.
    private var nodes = 0
    private static let mostNodes = 400

    private mutating func take(_ byte: UInt8, _ entry: Span<UInt8>) -> Bool {
        guard position < entry.count, entry[position] == byte else { return false }
        position += 1
        return true
    }

    /// Reads an object; `value` reads the value after each name.
    @inline(__always)
    mutating func object(
        _ entry: Span<UInt8>,
        _ value: (inout EntryScan, MemberName) -> Bool
    ) -> Bool {
        guard take(UInt8(ascii: "{"), entry) else { return false }
        var last: MemberName?
        repeat {
            guard let name = name(entry), last?.precedes(name, entry) ?? true, take(UInt8(ascii: ":"), entry),
                value(&self, name)
            else { return false }
            last = name
        } while take(UInt8(ascii: ","), entry)
        return take(UInt8(ascii: "}"), entry)
    }

    @inline(__always)
    private mutating func name(_ entry: Span<UInt8>) -> MemberName? {
        let start = position + 1
        // Nearly every name is read from one word.
        if start + 8 <= entry.count, entry[position] == UInt8(ascii: "\"") {
            let word = entry.word(at: start)
            let length = word.plainBytes
            if length < 8, entry[start + length] == UInt8(ascii: "\"") {
                position = start + length + 1
                guard countNode() else { return nil }
                let place = IndexedEntry.Place(start: start, end: start + length)
                return MemberName(place, word: word.byteSwapped & .max << UInt64(64 - 8 * length))
            }
        }
        return string(entry).map { MemberName($0, entry) }
    }

    mutating func value(
        of member: IndexedEntry.Member?,
        _ entry: Span<UInt8>,
        into indexed: inout IndexedEntry
    ) -> Bool {
        guard position < entry.count else { return false }
        switch entry[position] {
        case UInt8(ascii: "\""):
            guard let string = string(entry) else { return false }
            if let member { indexed.note(member, string) }
            return true
        case UInt8(ascii: "["): return list(of: member, entry, into: &indexed)
        // No member that is searched for is an object.
        case UInt8(ascii: "{"): return element(of: nil, entry, into: &indexed)
        case UInt8(ascii: "t"), UInt8(ascii: "f"):
            guard let bool = boolean(entry) else { return false }
            if let member { indexed.note(member, bool) }
            return true
        default:
            guard let integer = integer(entry) else { return false }
            if let member { indexed.note(member, integer) }
            return true
        }
    }

    private mutating func list(
        of member: IndexedEntry.Member?,
        _ entry: Span<UInt8>,
        into indexed: inout IndexedEntry
    ) -> Bool {
        position += 1
        if take(UInt8(ascii: "]"), entry) { return countNode() }
        repeat {
            guard position < entry.count else { return false }
            switch entry[position] {
            case UInt8(ascii: "\""):
                guard let string = string(entry) else { return false }
                if let member { indexed.note(element: string, of: member) }
            case UInt8(ascii: "{"):
                guard element(of: member, entry, into: &indexed) else { return false }
            default:
                guard integer(entry) != nil else { return false }
            }
        } while take(UInt8(ascii: ","), entry)
        return take(UInt8(ascii: "]"), entry) && countNode()
    }

    /// Reads an object within a list; its values must be strings and integers.
    private mutating func element(
        of member: IndexedEntry.Member?,
        _ entry: Span<UInt8>,
        into indexed: inout IndexedEntry
    ) -> Bool {
        object(entry) { scan, name in
            guard scan.position < entry.count, entry[scan.position] == UInt8(ascii: "\"") else {
                return scan.integer(entry) != nil
            }
            guard let string = scan.string(entry) else { return false }
            guard let member, name.isShort else { return true }
            switch name.word {
            case MemberTable.caller: indexed.note(.caller, string, of: member)
            case MemberTable.code: indexed.note(.code, string, of: member)
            default: break
            }
            return true
        } && countNode()
    }

    /// A string of ASCII without escapes.
    mutating func string(_ entry: Span<UInt8>) -> IndexedEntry.Place? {
        guard take(UInt8(ascii: "\""), entry) else { return nil }
        let start = position
        var end = entry.endOfPlainWords(from: start)
        // Fewer than eight bytes may be left.
        while end < entry.count, entry[end].isPlain { end += 1 }
        guard end < entry.count, entry[end] == UInt8(ascii: "\"") else { return nil }
        position = end + 1
        return countNode() ? IndexedEntry.Place(start: start, end: end) : nil
    }

    /// An integer of up to 18 digits, which fits.
    mutating func integer(_ entry: Span<UInt8>) -> Int64? {
        let isNegative = take(UInt8(ascii: "-"), entry)
        let start = position
        var value: Int64 = 0
        if start + 8 <= entry.count, let digits = entry.word(at: start).eightDigits {
            value = digits
            position += 8
        }
        while position < entry.count, position - start < 18 {
            let digit = entry[position] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            // 18 digits fit.
            value = 10 &* value &+ Int64(digit)
            position += 1
        }
        guard position > start, entry[start] != UInt8(ascii: "0") || position == start + 1, countNode() else {
            return nil
        }
        return isNegative ? -value : value
    }

    private mutating func boolean(_ entry: Span<UInt8>) -> Bool? {
        let isTrue = entry[position] == UInt8(ascii: "t")
        // A String of so few bytes has no storage of its own.
        let text = isTrue ? "true" : "false"
        for byte in text.utf8 { guard take(byte, entry) else { return nil } }
        return countNode() ? isTrue : nil
    }

    private mutating func countNode() -> Bool {
        nodes += 1
        return nodes <= Self.mostNodes
    }
}

extension UInt8 {
    /// Whether a string has it as it is: ASCII that needs no escape.
    fileprivate var isPlain: Bool {
        self >= 0x20 && self < 0x80 && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\")
    }
}
