// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The C library's words for an `errno`, and its number.
func describe(_ code: Int32) -> String {
    // Longer than any text of glibc. Threads may call `strerror_r`, which takes a buffer, at the same time.
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
        guard let start = buffer.baseAddress, unsafe strerror_r(code, start, buffer.count) == 0 else {
            return "errno \(code)"
        }
        return unsafe "\(String(cString: start)) (errno \(code))"
    }
}
