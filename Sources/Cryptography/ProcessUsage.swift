// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// What this process uses of the machine, as Linux counts it.
package enum ProcessUsage {
    /// In seconds, of all threads, in the program and in the kernel for it.
    package static var processorSeconds: Double {
        var usage = rusage()
        guard unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }

    /// In bytes: the addresses in use, and what of them lies in memory.
    ///
    /// Source: proc(5), `/proc/self/statm`.
    package static var memory: (virtual: Int, resident: Int) {
        guard let file = unsafe fopen("/proc/self/statm", "re") else { return (0, 0) }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard unsafe fgets(&line, Int32(line.count), file) != nil else { return (0, 0) }
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let pages = text.split(separator: " ").prefix(2).compactMap { Int($0) }
        guard pages.count == 2 else { return (0, 0) }
        let bytes = Int(sysconf(Int32(_SC_PAGESIZE)))
        return (pages[0] * bytes, pages[1] * bytes)
    }

    /// Open files and connections, without the descriptor that the count itself needs.
    package static var openFiles: Int {
        guard let folder = unsafe opendir("/proc/self/fd") else { return 0 }
        defer { unsafe closedir(folder) }
        var count = 0
        while unsafe readdir(folder) != nil { count += 1 }
        // The folder itself, its parent, and the descriptor that it is read by.
        return max(0, count - 3)
    }

    /// How many files and connections there may be.
    package static var mostOpenFiles: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_cur)
    }
}
