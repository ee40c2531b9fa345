// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// Secret bytes in locked memory, wiped when the last reference goes away.
///
/// Only code inside this module gets access to them. `@unchecked Sendable`: only the creator writes, before any other
/// code has the object.
@safe
package final class SecureBytes: @unchecked Sendable {
    /// How many there are.
    package let count: Int
    private let start: UnsafeMutableRawPointer

    /// `count` zero bytes, for the creator to fill.
    init(count: Int) throws(SecureMemoryError) {
        guard SecureMemory.isStarted else { throw .notStarted }
        // One byte more: OpenSSL gives no memory for a count of 0, and an empty secret is still a secret.
        guard let start = unsafe CRYPTO_secure_zalloc(count + 1, nil, 0) else { throw .heapExhausted(bytes: count) }
        self.count = count
        unsafe self.start = start
    }

    /// A copy of bytes that are in ordinary memory already; what they were copied from stays there.
    package convenience init(copying bytes: [UInt8]) throws(SecureMemoryError) {
        try self.init(count: bytes.count)
        unsafe withMutableBytes { target in unsafe target.copyBytes(from: bytes) }
    }

    deinit {
        unsafe CRYPTO_secure_clear_free(start, count + 1, nil, 0)
    }

    /// Passes the bytes to `body` for reading, with bounds checked.
    func withSpan<Result: ~Copyable, Failure>(
        _ body: (borrowing Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count)
        return try body(unsafe bytes.span)
    }

    /// Passes the bytes to a C call.
    func withBytes<Result: ~Copyable, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Passes the bytes to the creator, to be filled.
    func withMutableBytes<Result, Failure>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeMutableRawBufferPointer(start: start, count: count))
    }
}
