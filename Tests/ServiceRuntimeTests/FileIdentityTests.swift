// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServiceRuntime
import TestSupport
import Testing

/// Which file a path leads to, and what asking leaves behind.
struct FileIdentityTests {
    @Test func `two paths to one file have the same identity, and nothing has none`() throws {
        let directory = try TemporaryDirectory()
        let (one, other) = (try directory.write([1], to: "one"), try directory.write([1], to: "other"))
        try FileManager.default.createSymbolicLink(atPath: directory.path(of: "link"), withDestinationPath: one)
        try FileManager.default.linkItem(atPath: one, toPath: directory.path(of: "name"))
        let identity = try #require(FileIdentity(path: one))
        #expect(identity == FileIdentity(path: directory.path(of: "link")))
        #expect(identity == FileIdentity(path: directory.path(of: "name")))
        #expect(identity != FileIdentity(path: other))
        #expect(FileIdentity(path: directory.path(of: "none")) == nil)
        try FileManager.default.removeItem(atPath: one)
        try FileManager.default.moveItem(atPath: other, toPath: one)
        #expect(identity != FileIdentity(path: one), "another file of the same name")
    }

    /// From Linux 6.13 on, once a process reads the times of a file, the next write sets new ones, to the nanosecond.
    ///
    /// Any other file keeps its times until the clock ticks, some milliseconds later; before 6.13 all files do.
    @Test func `asking does not make the next write change the times of the file`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write([1], to: "file")
        let file = try #require(FileHandle(forWritingAtPath: path))
        defer { try? file.close() }
        var kept = 0
        for _ in 0..<100 {
            // The end of the round before has seen the times, so this sets them.
            try file.write(contentsOf: [1])
            #expect(FileIdentity(path: path) != nil)
            let between = Self.now()
            try file.write(contentsOf: [2])
            // Times that the second write sets are later, unless the clock ticked meanwhile.
            if Self.writtenAt(path) < between { kept += 1 }
        }
        #expect(kept > 50)
    }

    /// In nanoseconds, as all here.
    private static func now() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    private static func writtenAt(_ path: String) -> Int {
        var status = stat()
        unsafe stat(path, &status)
        return status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
    }
}
