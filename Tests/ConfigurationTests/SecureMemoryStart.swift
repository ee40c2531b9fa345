// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// Starts secure memory for tests that share a process with others.
func startSecureMemory() throws { try SecureMemory.start(secureHeapBytes: 1 << 20, conceding: [.unwipedBlocks]) }
