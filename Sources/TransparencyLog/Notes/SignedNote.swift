// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// A text with signatures below it; a reader may know only some of the keys.
///
/// The text, an empty line, and a line for each signature: `— NAME BASE64`, where the Base64 holds the key's id, 4
/// bytes, and the signature. The bytes that are served are exactly the bytes that were parsed.
///
/// Source: [C2SP signed-note](https://c2sp.org/signed-note).
package struct SignedNote: Hashable, Sendable {
    /// The largest note that is read.
    package static let maximumBytes = 1 << 20
    /// The most signatures that are read; a reader must take at least 16.
    package static let maximumSignatures = 64

    /// What is signed, in UTF-8; it ends with a line feed.
    package let text: [UInt8]
    /// In the order of the lines.
    package private(set) var signatures: [NoteSignature]

    /// A note whose text ends with a line feed.
    package init(text: [UInt8], signatures: [NoteSignature]) {
        precondition(text.last == UInt8(ascii: "\n"), "a note's text ends with a line feed")
        self.text = text
        self.signatures = signatures
    }

    /// Reads a note; no signature is verified.
    package init(parsing bytes: [UInt8]) throws(NoteError) {
        guard bytes.count <= Self.maximumBytes else { throw .tooLarge(limit: Self.maximumBytes) }
        try Self.check(bytes)
        guard let split = Self.split(bytes) else { throw .noSignatures }
        guard bytes.last == UInt8(ascii: "\n") else { throw .lineNotEnded }
        text = Array(bytes[..<split])
        var signatures: [NoteSignature] = []
        let lines = bytes[(split + 1)...].dropLast().split(
            separator: UInt8(ascii: "\n"),
            omittingEmptySubsequences: false
        )
        guard lines.count <= Self.maximumSignatures else { throw .tooManySignatures(limit: Self.maximumSignatures) }
        for (index, line) in lines.enumerated() {
            guard let signature = NoteSignature(line: line) else { throw .malformedSignature(line: index + 1) }
            signatures.append(signature)
        }
        self.signatures = signatures
    }

    /// The note as it is served and kept.
    package var bytes: [UInt8] {
        var bytes = text + [UInt8(ascii: "\n")]
        for signature in signatures { bytes += signature.line }
        return bytes
    }

    /// The same note with one more signature; a signature that it already has is not added again.
    package func adding(_ signature: NoteSignature) -> SignedNote {
        var note = self
        if !signatures.contains(signature) { note.signatures.append(signature) }
        return note
    }

    /// The signatures of keys that the reader knows, each verified; those of other keys are passed over.
    ///
    /// - Throws: ``NoteError/badSignature(key:)`` if a known key's signature does not verify, even beside a good one.
    package func verified(by keys: [NoteVerifierKey]) throws(NoteError) -> [VerifiedSignature] {
        var verified: [VerifiedSignature] = []
        for signature in signatures {
            guard let key = keys.first(where: { $0.isNamed(by: signature) }) else { continue }
            guard let found = key.verify(signature, of: text) else { throw .badSignature(key: key.name) }
            verified.append(found)
        }
        return verified
    }

    /// Demands a good signature of that key, and answers the first one.
    package func verified(by key: NoteVerifierKey) throws(NoteError) -> VerifiedSignature {
        guard let first = try verified(by: [key]).first else { throw .notSigned(key: key.name) }
        return first
    }

    /// UTF-8, and of the control characters only line feeds.
    private static func check(_ bytes: [UInt8]) throws(NoteError) {
        if let place = bytes.firstIndex(where: { $0 < 0x20 && $0 != UInt8(ascii: "\n") }) {
            throw .controlCharacter(offset: place)
        }
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .notUTF8 }
    }

    /// Where the last empty line is: the offset of its line feed.
    private static func split(_ bytes: [UInt8]) -> Int? {
        let newline = UInt8(ascii: "\n")
        return bytes.indices.dropFirst().last { bytes[$0] == newline && bytes[$0 - 1] == newline }
            .flatMap { $0 + 1 < bytes.count ? $0 : nil }
    }
}

/// One line below a note: who signed it, with which key, and the signature.
package struct NoteSignature: Hashable, Sendable {
    /// The key's name, without spaces and `+`.
    package let name: String
    /// The first 4 bytes of a digest over the key's name, algorithm and bytes, big-endian.
    package let keyID: UInt32
    /// What follows the key's id; its form is the algorithm's.
    package let bytes: [UInt8]

    package init(name: String, keyID: UInt32, bytes: [UInt8]) {
        self.name = name
        self.keyID = keyID
        self.bytes = bytes
    }

    /// Reads a line, without its line feed; nil if it is not a signature.
    package init?(line: ArraySlice<UInt8>) {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].elementsEqual(Self.dash),
            let name = NoteVerifierKey.name(parts[1]),
            let decoded = Base64.decode(Array(parts[2])), decoded.count > 4
        else { return nil }
        self.name = name
        keyID = decoded.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        bytes = Array(decoded.dropFirst(4))
    }

    /// The line with its line feed.
    package var line: [UInt8] {
        let id = (0..<4).map { UInt8(truncatingIfNeeded: keyID >> (24 - 8 * $0)) }
        return Self.dash + [UInt8(ascii: " ")] + Array(name.utf8) + [UInt8(ascii: " ")] + Base64.encode(id + bytes)
            + [UInt8(ascii: "\n")]
    }

    /// U+2014 EM DASH.
    private static let dash: [UInt8] = [0xE2, 0x80, 0x94]
}

/// A signature that a known key made.
package struct VerifiedSignature: Hashable, Sendable {
    /// The key that verified it.
    package let key: NoteVerifierKey
    /// When it says that it was made, in seconds since 1970; nil for an algorithm that does not say.
    package let seconds: Int64?
    /// The line below the note.
    package let signature: NoteSignature
}

/// Why bytes are not taken as a signed note, or a note is not believed.
package enum NoteError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooLarge(limit: Int)
    case notUTF8
    case controlCharacter(offset: Int)
    /// No empty line with signatures after it.
    case noSignatures
    /// The last line has no line feed.
    case lineNotEnded
    case tooManySignatures(limit: Int)
    /// Counted from the first line of the signatures.
    case malformedSignature(line: Int)
    /// A key that is known did not make the signature that bears its name.
    case badSignature(key: String)
    /// The key that is demanded has no signature here.
    case notSigned(key: String)

    /// A sentence that names the place of the fault.
    package var description: String {
        switch self {
        case .tooLarge(let limit): "The note has more than \(limit) bytes."
        case .notUTF8: "The note is not UTF-8."
        case .controlCharacter(let offset): "The note has a control character at byte \(offset)."
        case .noSignatures: "The note has no empty line with signatures after it."
        case .lineNotEnded: "The note's last line has no line feed."
        case .tooManySignatures(let limit): "The note has more than \(limit) signatures."
        case .malformedSignature(let line): "The note's signature \(line) is not “— NAME BASE64”."
        case .badSignature(let key): "The signature of \(key) does not verify."
        case .notSigned(let key): "The note has no signature of \(key) with the expected key."
        }
    }
}
