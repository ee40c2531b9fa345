// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// Secret bytes in locked memory, wiped when the last reference goes away.
///
/// They are lent inside this module and never leave it. `@unchecked Sendable`: only the maker writes, before anybody
/// else has the object.
@safe
package final class SecureBytes: @unchecked Sendable {
    /// How many there are.
    package let count: Int
    private let start: UnsafeMutableRawPointer

    /// So many zero bytes, to be filled by the maker.
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

    /// Lends the bytes for reading, with bounds checked.
    func withSpan<Result: ~Copyable, Failure>(
        _ body: (borrowing Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count)
        return try body(unsafe bytes.span)
    }

    /// Lends the bytes to a C call.
    func withBytes<Result: ~Copyable, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Lends the bytes to the maker, to be filled.
    func withMutableBytes<Result, Failure>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeMutableRawBufferPointer(start: start, count: count))
    }
}
