// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// How much memory this process uses.
enum MemoryUse {
    static func residentBytes() throws -> Int {
        let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try #require(Int(words[1])) * sysconf(Int32(_SC_PAGESIZE))
    }
}
