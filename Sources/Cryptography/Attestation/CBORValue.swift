// SPDX-License-Identifier: Apache-2.0

/// A value of CBOR, of the kinds that WebAuthn's objects are made of.
///
/// Source: RFC 8949; [decision 67](../../../docs/decisions/0067-app-attest.md) says why no library reads it.
indirect enum CBORValue: Hashable {
    case integer(Int64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    case map([CBORKey: CBORValue])

    /// The most bytes that a text may have.
    static let mostBytes = 16_384

    /// Reads a text that is one value and nothing more.
    init(_ text: [UInt8]) throws(CBORFault) {
        var reader = try CBORReader(text[...])
        self = try reader.value()
        guard reader.isAtEnd else { throw .trailingBytes }
    }
}

/// The key of a value in a map.
enum CBORKey: Hashable {
    case integer(Int64)
    case text(String)
}

/// Why a text is not taken as CBOR.
package enum CBORFault: String, Error, Hashable, Sendable {
    case tooLarge = "too-large"
    case truncated
    case trailingBytes = "trailing-bytes"
    case tooDeep = "too-deep"
    case tooManyValues = "too-many-values"
    /// Of a length that is only known at its end.
    case indefiniteLength = "indefinite-length"
    /// A number or length takes more bytes than it needs.
    case notShortest = "not-shortest"
    case repeatedKey = "repeated-key"
    /// A tag, a floating-point number, `true`, `null` and the like, or a number beyond 64 bits with a sign.
    case otherType = "other-type"
    case notUTF8 = "not-utf-8"
}

/// Reads values one after another, of RFC 8949's deterministic encoding (section 4.2.1), but in any order of keys.
///
/// So each object has one reading: lengths are definite, numbers as short as can be, and no key comes twice.
struct CBORReader {
    private var rest: ArraySlice<UInt8>
    private var values = 0

    private static let mostValues = 64
    private static let greatestDepth = 4

    /// Reads a text of at most 16 KiB.
    init(_ text: ArraySlice<UInt8>) throws(CBORFault) {
        guard text.count <= CBORValue.mostBytes else { throw .tooLarge }
        rest = text
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// The next value.
    mutating func value() throws(CBORFault) -> CBORValue { try value(depth: 1) }

    private mutating func value(depth: Int) throws(CBORFault) -> CBORValue {
        values += 1
        guard values <= Self.mostValues else { throw .tooManyValues }
        let (kind, argument) = try head()
        switch kind {
        case 0: return .integer(try Self.signed(argument))
        case 1: return .integer(-1 - (try Self.signed(argument)))
        case 2: return .bytes(Array(try bytes(argument)))
        case 3:
            guard let text = String(validating: try bytes(argument), as: UTF8.self) else { throw .notUTF8 }
            return .text(text)
        case 4: return .array(try elements(argument, depth))
        case 5: return .map(try members(argument, depth))
        default: throw .otherType
        }
    }

    /// The kind of the next value, and its number, length or count.
    private mutating func head() throws(CBORFault) -> (kind: UInt8, argument: UInt64) {
        guard let first = rest.popFirst() else { throw .truncated }
        let (kind, short) = (first >> 5, first & 31)
        guard kind < 6 else { throw .otherType }
        switch short {
        case 0..<24: return (kind, UInt64(short))
        case 24...27:
            let count = 1 << Int(short - 24)
            let argument = try bytes(UInt64(count)).reduce(0) { $0 << 8 | UInt64($1) }
            // One byte less, or the first byte itself, has no room for it.
            guard argument >= (count == 1 ? 24 : 1 << (4 * UInt64(count))) else { throw .notShortest }
            return (kind, argument)
        case 31: throw .indefiniteLength
        default: throw .otherType
        }
    }

    private mutating func bytes(_ count: UInt64) throws(CBORFault) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw .truncated }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }

    private mutating func elements(_ count: UInt64, _ depth: Int) throws(CBORFault) -> [CBORValue] {
        guard depth < Self.greatestDepth else { throw .tooDeep }
        guard count <= Self.mostValues else { throw .tooManyValues }
        var elements: [CBORValue] = []
        for _ in 0..<count { elements.append(try value(depth: depth + 1)) }
        return elements
    }

    private mutating func members(_ count: UInt64, _ depth: Int) throws(CBORFault) -> [CBORKey: CBORValue] {
        guard depth < Self.greatestDepth else { throw .tooDeep }
        guard count <= Self.mostValues else { throw .tooManyValues }
        var members: [CBORKey: CBORValue] = [:]
        for _ in 0..<count {
            let key = try key(depth)
            guard members.updateValue(try value(depth: depth + 1), forKey: key) == nil else { throw .repeatedKey }
        }
        return members
    }

    private mutating func key(_ depth: Int) throws(CBORFault) -> CBORKey {
        switch try value(depth: depth + 1) {
        case .integer(let integer): return .integer(integer)
        case .text(let text): return .text(text)
        case .bytes, .array, .map: throw .otherType
        }
    }

    private static func signed(_ argument: UInt64) throws(CBORFault) -> Int64 {
        guard let signed = Int64(exactly: argument) else { throw .otherType }
        return signed
    }
}
