// SPDX-License-Identifier: Apache-2.0
import Foundation

// CryptoKit as far as the documents use it, with Apple's signatures, for Linux; it computes nothing.
// Source: https://developer.apple.com/documentation/cryptokit/sha256

public struct SHA256: Sendable {
    public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { SHA256Digest() }
}

public struct SHA256Digest: Sequence, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator { Array(repeating: 0, count: 32).makeIterator() }
}
