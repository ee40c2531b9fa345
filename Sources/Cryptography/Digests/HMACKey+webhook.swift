// SPDX-License-Identifier: Apache-2.0

/// Why a text is no secret of Standard Webhooks.
package enum WebhookSecretError: Error, Hashable, Sendable, CustomStringConvertible {
    case prefixMissing
    case notBase64
    case wrongLength(byteCount: Int)
    case secureMemory(SecureMemoryError)
    case key(HMACKeyError)

    /// What was found and expected; it shows nothing of the secret but its length.
    package var description: String {
        switch self {
        case .prefixMissing: "expected whsec_ and Base64"
        case .notBase64: "what follows whsec_ is not Base64"
        case .wrongLength(let count): "the secret has \(count) bytes; expected 24 to 64"
        case .secureMemory(let error): error.description
        case .key(let error): error.description
        }
    }
}

extension HMACKey {
    /// Reads `whsec_` and the Base64 of 24 to 64 bytes; white space may stand before and after it.
    ///
    /// Source: [Standard Webhooks 1.0.0](https://github.com/standard-webhooks/standard-webhooks), signature scheme.
    package static func ofWebhook(_ text: SecureBytes) throws(WebhookSecretError) -> HMACKey {
        let secret = try text.withSpan { text throws(WebhookSecretError) in try decoded(text) }
        guard (24...64).contains(secret.count) else { throw .wrongLength(byteCount: secret.count) }
        do { return try HMACKey(secret, minimumByteCount: 24) } catch { throw .key(error) }
    }

    private static let prefix: StaticString = "whsec_"

    private static func decoded(_ text: borrowing Span<UInt8>) throws(WebhookSecretError) -> SecureBytes {
        var (start, end) = (0, text.count)
        while start < end, isWhiteSpace(text[start]) { start += 1 }
        while end > start, isWhiteSpace(text[end - 1]) { end -= 1 }
        guard end - start > prefix.utf8CodeUnitCount else { throw .prefixMissing }
        for offset in 0..<prefix.utf8CodeUnitCount {
            guard unsafe text[start + offset] == prefix.utf8Start[offset] else { throw .prefixMissing }
        }
        start += prefix.utf8CodeUnitCount
        while end > start, text[end - 1] == Base64.paddingCharacter { end -= 1 }
        guard (end - start) % 4 != 1 else { throw .notBase64 }
        return try decoded(text, start..<end)
    }

    private static func decoded(
        _ text: borrowing Span<UInt8>,
        _ range: Range<Int>
    ) throws(WebhookSecretError) -> SecureBytes {
        let secret: SecureBytes
        do throws(SecureMemoryError) {
            secret = try SecureBytes(count: range.count * 6 / 8)
        } catch {
            throw .secureMemory(error)
        }
        var (pending, bits, count): (UInt32, UInt32, Int) = (0, 0, 0)
        for index in range {
            guard let value = Base64.value(text[index]) else { throw .notBase64 }
            pending = pending << 6 | UInt32(value)
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            let byte = UInt8(truncatingIfNeeded: pending >> bits)
            unsafe secret.withMutableBytes { unsafe $0[count] = byte }
            count += 1
            pending &= 1 << bits - 1
        }
        return secret
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}
