// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Glibc
import Synchronization

/// How OpenSSL keeps secrets in memory: pages that are never swapped or dumped, and blocks wiped when they are freed.
package enum SecureMemory {
    /// What a caller is ready to do without.
    ///
    /// A service does without nothing.
    package struct Concessions: OptionSet, Sendable {
        /// One bit for each concession.
        package let rawValue: UInt8

        /// As `OptionSet` wants it; there are two concessions.
        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The pages may be swapped out, because `RLIMIT_MEMLOCK` is too small to lock them.
        package static let unlockedPages = Concessions(rawValue: 1)

        /// What OpenSSL frees stays in memory as it was, because OpenSSL allocated before the start.
        package static let unwipedBlocks = Concessions(rawValue: 2)
    }

    private struct State {
        var wipesBlocks: Bool?
        var locksPages: Bool?
    }

    private static let state = Mutex(State())

    /// Gives OpenSSL a wiping allocator and a locked heap for secrets.
    ///
    /// Must be the first use of OpenSSL in the process, by anyone: the first thing `main` does. May be called again, by
    /// any thread; what was started stays as it is.
    ///
    /// - Parameters:
    ///   - secureHeapBytes: The size of the heap, a power of two. A loaded key takes about 128 bytes of it, a file that
    ///     is being read up to 32 KiB. Must fit in `RLIMIT_MEMLOCK`.
    ///   - concessions: What may be missing without an error.
    /// - Throws: What could not be had and was not conceded.
    package static func start(
        secureHeapBytes: Int = 65_536,
        conceding concessions: Concessions = []
    ) throws(SecureMemoryError) {
        guard secureHeapBytes >= 4096, secureHeapBytes.nonzeroBitCount == 1 else {
            throw .heapSizeNotPowerOfTwo(bytes: secureHeapBytes)
        }
        let outcome = state.withLock { state in
            start(&state, secureHeapBytes: secureHeapBytes, conceding: concessions)
        }
        try outcome.get()
    }

    /// Whether the locked heap is there, so that secrets may be read.
    static var isStarted: Bool {
        CRYPTO_secure_malloc_initialized() == 1
    }

    private static func start(
        _ state: inout State,
        secureHeapBytes: Int,
        conceding concessions: Concessions
    ) -> Result<Void, SecureMemoryError> {
        // OpenSSL takes another allocator only until its first allocation, so this is asked once and remembered.
        let wipesBlocks = state.wipesBlocks ?? (shim_use_wiping_allocator() == 1)
        state.wipesBlocks = wipesBlocks
        guard wipesBlocks || concessions.contains(.unwipedBlocks) else { return .failure(.openSSLAlreadyUsed) }
        // At the end of the process threads of ours may still be ending, which free what is their own in OpenSSL. If it
        // tidied up for itself meanwhile, both would free the same.
        guard OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1 else { return .failure(.notInitialized) }
        if state.locksPages == nil {
            switch CRYPTO_secure_malloc_init(secureHeapBytes, 16) {
            case 1: state.locksPages = true
            case 2: state.locksPages = false
            default: return .failure(.heapNotCreated(bytes: secureHeapBytes))
            }
        }
        guard state.locksPages == true || concessions.contains(.unlockedPages) else {
            if CRYPTO_secure_malloc_done() == 1 { state.locksPages = nil }
            return .failure(.pagesNotLocked(bytes: secureHeapBytes))
        }
        return .success(())
    }
}

/// Why secrets can't be kept in memory as they should be.
package enum SecureMemoryError: Error, Hashable, Sendable, CustomStringConvertible {
    case heapSizeNotPowerOfTwo(bytes: Int)
    case openSSLAlreadyUsed
    case notInitialized
    case heapNotCreated(bytes: Int)
    case pagesNotLocked(bytes: Int)
    case notStarted
    case heapExhausted(bytes: Int)

    /// A sentence for the operator; sizes are in bytes.
    package var description: String {
        switch self {
        case .heapSizeNotPowerOfTwo(let bytes):
            "The secure heap can't have \(bytes) bytes; a power of two of at least 4096 is needed."
        case .openSSLAlreadyUsed:
            "OpenSSL allocated memory before secure memory was started, so what it frees would not be wiped."
        case .notInitialized:
            "OpenSSL could not be initialized."
        case .heapNotCreated(let bytes):
            "OpenSSL could not create a secure heap of \(bytes) bytes."
        case .pagesNotLocked(let bytes):
            "The secure heap of \(bytes) bytes could not be locked in memory; RLIMIT_MEMLOCK must allow at least that."
        case .notStarted:
            "A secret was to be read before secure memory was started."
        case .heapExhausted(let bytes):
            "The secure heap has no \(bytes) bytes left."
        }
    }
}
