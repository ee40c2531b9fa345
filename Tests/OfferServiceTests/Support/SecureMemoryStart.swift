// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport

/// Starts secure memory for tests that share a process with others.
///
/// The heap is larger than the service's, since tests read many keys at the same time.
/// A test that used OpenSSL may have come first, so wiping is conceded; tests about wiping have a process of their own.
func startSecureMemory() throws {
    try SecureMemory.start(secureHeapBytes: 1 << 20, conceding: [.unwipedBlocks])
    KeyLeakChecker.lookInsideSecureHeap()
}
