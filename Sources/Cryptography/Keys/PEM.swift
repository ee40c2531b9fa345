// SPDX-License-Identifier: Apache-2.0

/// The textual form of a private key, held to exactly one block and nothing else but white space.
///
/// Stricter than RFC 7468, and than OpenSSL, which skips what it does not know and takes the first key it meets. White space
/// may stand anywhere around and within the Base64, as forms and environment variables leave it: the key stays the same.
enum PEM {
    /// The blocks that hold a PKCS #8 private key.
    enum Kind {
        case privateKey, encryptedPrivateKey
    }

    /// Finds the block and decodes its Base64 into secure memory.
    static func decode(_ text: SecureBytes) throws(PrivateKeyError) -> (kind: Kind, der: SecureBytes) {
        try text.withSpan { text throws(PrivateKeyError) in
            try checkBytes(text)
            let (label, bodyStart) = try beginning(of: text)
            let kind = try kind(of: label, in: text)
            let bodyEnd = try endOfBody(in: text, from: bodyStart, label: label)
            return (kind, try decodeBase64(text, in: bodyStart..<bodyEnd))
        }
    }

    private static let begin: StaticString = "-----BEGIN "
    private static let end: StaticString = "-----END "
    private static let dashes: StaticString = "-----"

    /// Space, tab, LF and CR.
    fileprivate static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    /// What a block is, by the words in its first line.
    private static let labels: [(words: StaticString, result: Result<Kind, PrivateKeyError>)] = [
        ("PRIVATE KEY", .success(.privateKey)),
        ("ENCRYPTED PRIVATE KEY", .success(.encryptedPrivateKey)),
        ("EC PRIVATE KEY", .failure(.sec1Key)),
        ("EC PARAMETERS", .failure(.curveParameters)),
        ("RSA PRIVATE KEY", .failure(.traditionalRSAKey)),
        ("OPENSSH PRIVATE KEY", .failure(.openSSHKey)),
        ("CERTIFICATE", .failure(.certificate)),
        ("TRUSTED CERTIFICATE", .failure(.certificate)),
        ("PUBLIC KEY", .failure(.publicKey)),
        ("RSA PUBLIC KEY", .failure(.publicKey)),
    ]

    private static func checkBytes(_ text: borrowing Span<UInt8>) throws(PrivateKeyError) {
        // UTF-8, UTF-16 in either order. Checked before NUL, because UTF-16 is full of it.
        guard !text.holds("\u{FEFF}", at: 0), !text.holds([0xFF, 0xFE]), !text.holds([0xFE, 0xFF]) else {
            throw .startsWithByteOrderMark
        }
        // A SEQUENCE of more than 127 bytes, as every key is.
        guard !text.holds([0x30, 0x81]), !text.holds([0x30, 0x82]) else { throw .isDER }
        for index in 0..<text.count where text[index] == 0 { throw .containsNUL }
        try checkWrapping(text)
    }

    /// What environment variables, forms and copies put around a key, or in the place of its line ends.
    private static func checkWrapping(_ text: borrowing Span<UInt8>) throws(PrivateKeyError) {
        switch text.firstVisible {
        case UInt8(ascii: "{"): throw .isJSON
        case UInt8(ascii: "\""), UInt8(ascii: "'"): throw .isQuoted
        default: break
        }
        guard text.firstIndex(of: "\\n", from: 0) == nil, text.firstIndex(of: "\\r", from: 0) == nil else {
            throw .lineEndsWrittenOut
        }
    }

    /// The words of the first line, and where what follows it starts.
    private static func beginning(of text: borrowing Span<UInt8>) throws(PrivateKeyError) -> (Range<Int>, Int) {
        let start = text.visibleIndex(from: 0)
        guard text.holds(begin, at: start) else {
            throw text.firstIndex(of: begin, from: 0) == nil ? .noPEMBlock : .textBeforeBlock
        }
        let wordsStart = start + begin.utf8CodeUnitCount
        guard let wordsEnd = text.firstIndex(of: dashes, from: wordsStart) else { throw .blockNotEnded }
        return (wordsStart..<wordsEnd, wordsEnd + dashes.utf8CodeUnitCount)
    }

    private static func kind(of label: Range<Int>, in text: borrowing Span<UInt8>) throws(PrivateKeyError) -> Kind {
        for (words, result) in labels where words.utf8CodeUnitCount == label.count {
            if text.holds(words, at: label.lowerBound) { return try result.get() }
        }
        throw .otherBlock
    }

    /// Where the END line starts, which must have the same words and be the last.
    private static func endOfBody(
        in text: borrowing Span<UInt8>,
        from bodyStart: Int,
        label: Range<Int>
    ) throws(PrivateKeyError) -> Int {
        guard let bodyEnd = text.firstIndex(of: end, from: bodyStart) else { throw .blockNotEnded }
        var next = bodyEnd + end.utf8CodeUnitCount
        for index in label {
            guard next < text.count, text[next] == text[index] else { throw .blockNotEnded }
            next += 1
        }
        guard text.holds(dashes, at: next) else { throw .blockNotEnded }
        next += dashes.utf8CodeUnitCount
        guard text.firstIndex(of: begin, from: next) == nil else { throw .secondBlock }
        guard text.visibleIndex(from: next) == text.count else { throw .textAfterBlock }
        return bodyEnd
    }

    /// Decodes canonical Base64 with white space anywhere in it.
    private static func decodeBase64(
        _ text: borrowing Span<UInt8>,
        in body: Range<Int>
    ) throws(PrivateKeyError) -> SecureBytes {
        let (digitCount, paddingCount) = try measure(text, body)
        guard digitCount > 0, paddingCount <= 2, (digitCount + paddingCount).isMultiple(of: 4) else {
            throw .malformedBase64
        }
        let der = try SecureBytes.forKey(digitCount * 3 / 4)
        var pending: UInt32 = 0
        var pendingBits: UInt32 = 0
        var written = 0
        for index in body {
            guard let value = Base64.value(text[index]) else { continue }
            pending = pending << 6 | UInt32(value)
            pendingBits += 6
            guard pendingBits >= 8 else { continue }
            pendingBits -= 8
            unsafe der.withMutableBytes { unsafe $0[written] = UInt8(truncatingIfNeeded: pending >> pendingBits) }
            written += 1
            pending &= 1 << pendingBits - 1
        }
        guard pending == 0, written == der.count else { throw .malformedBase64 }
        return der
    }

    /// Counts digits and padding, and sees that nothing else is there but white space.
    private static func measure(
        _ text: borrowing Span<UInt8>,
        _ body: Range<Int>
    ) throws(PrivateKeyError) -> (digits: Int, padding: Int) {
        var digits = 0
        var padding = 0
        for index in body where !isWhiteSpace(text[index]) {
            if text[index] == Base64.paddingCharacter {
                padding += 1
            } else {
                guard padding == 0, Base64.value(text[index]) != nil else { throw .malformedBase64 }
                digits += 1
            }
        }
        return (digits, padding)
    }
}

extension SecureBytes {
    /// `count` zero bytes; a failure is an error of key reading.
    static func forKey(_ count: Int) throws(PrivateKeyError) -> SecureBytes {
        do throws(SecureMemoryError) {
            return try SecureBytes(count: count)
        } catch {
            throw .secureMemory(error)
        }
    }
}

extension Span<UInt8> {
    /// Whether the words stand at the offset.
    fileprivate func holds(_ words: StaticString, at offset: Int) -> Bool {
        guard offset + words.utf8CodeUnitCount <= count else { return false }
        for index in 0..<words.utf8CodeUnitCount {
            guard unsafe self[offset + index] == words.utf8Start[index] else { return false }
        }
        return true
    }

    /// Whether the bytes stand at the start.
    fileprivate func holds(_ bytes: [UInt8]) -> Bool {
        count >= bytes.count && bytes.indices.allSatisfy { self[$0] == bytes[$0] }
    }

    fileprivate func firstIndex(of words: StaticString, from start: Int) -> Int? {
        var index = start
        while index < count {
            if holds(words, at: index) { return index }
            index += 1
        }
        return nil
    }

    /// The index of the next byte that is not white space; the end if there is none.
    fileprivate func visibleIndex(from start: Int) -> Int {
        var index = start
        while index < count, PEM.isWhiteSpace(self[index]) { index += 1 }
        return index
    }

    /// The first byte that is no white space.
    fileprivate var firstVisible: UInt8? {
        let index = visibleIndex(from: 0)
        return index < count ? self[index] : nil
    }
}
