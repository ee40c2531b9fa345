// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Storage
import Testing

/// What is on the disk after the worst.
@Suite struct DurabilityTests {
    @Test(.enabled(if: IndependentReader.isAvailable, "needs /usr/bin/python3"))
    func `after a kill what was committed is there, and nothing else`() async throws {
        let folder = try Folder()
        let path = folder.database
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let connection = try SQLiteConnection(path: path)
            try connection.run(SQL("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT) STRICT"))
            for id in 1...50 {
                try connection.transaction { () throws(StorageError) in
                    try connection.insertThing(Int64(id), "committed")
                    try connection.insertThing(Int64(-id), "committed")
                }
            }
            try connection.begin()
            for id in 100...5000 { try connection.insertThing(Int64(id), String(repeating: "lost", count: 100)) }
            _ = kill(getpid(), SIGKILL)
        }
        let query = "SELECT name, count(*), min(id), max(id) FROM things GROUP BY name"
        #expect(try IndependentReader.answer(to: query, in: folder) == "committed|100|-50|50")
        #expect(try IndependentReader.answer(to: "PRAGMA integrity_check", in: folder) == "ok")
        let connection = try folder.connect()
        try connection.insertThing(100, "after")
        #expect(try connection.countThings() == 101)
    }

    @Test(arguments: [DatabaseAccess.readWrite, .readOnly], [false, true])
    func `a write-ahead log that is left without its database is kept`(_ access: DatabaseAccess, isEmpty: Bool) throws {
        let (folder, other) = (try Folder(), try Folder())
        let connection = try folder.connectWithThings()
        try connection.insertThing(1, "one")
        let files = FileManager.default
        try files.copyItem(atPath: folder.database + "-wal", toPath: other.database + "-wal")
        if isEmpty { #expect(files.createFile(atPath: other.database, contents: nil)) }
        let error = storageError { () throws(StorageError) in _ = try other.connect(SQLiteOptions(access: access)) }
        guard case .cannotOpen(let report) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect("\(report)".contains("-wal"))
        #expect(files.fileExists(atPath: other.database) == isEmpty)
        try? files.removeItem(atPath: other.database)
        try files.copyItem(atPath: folder.database, toPath: other.database)
        #expect(try other.connect().countThings() == 1)
    }

    /// Mounting needs root and its capabilities; the mount lives in a namespace of the child process alone.
    static let canMount = geteuid() == 0 && unshareIsAllowed

    private static var unshareIsAllowed: Bool {
        let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let capabilities = line.flatMap { UInt64($0.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) } ?? 0
        return capabilities & (1 << 21) != 0  // CAP_SYS_ADMIN
    }

    @Test(.enabled(if: canMount, "needs to be root with the right to mount"))
    func `a full disk undoes the transaction, and the connection works again once there is room`() async throws {
        let folder = try Folder()
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            try #require(Self.mountSmallDisk(at: path))
            let connection = try SQLiteConnection(path: path + "/test.db")
            try connection.run(SQL("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT) STRICT"))
            try connection.insertThing(1, "one")
            let ballast = [UInt8](repeating: 0, count: 700_000)
            try Data(ballast).write(to: URL(fileURLWithPath: path + "/ballast"))
            let text = String(repeating: "x", count: 400_000)
            for _ in 0..<3 {
                let error = storageError { () throws(StorageError) in
                    try connection.transaction { () throws(StorageError) in try connection.insertThing(2, text) }
                }
                guard case .diskFull = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(try connection.countThings() == 1)
            }
            try FileManager.default.removeItem(atPath: path + "/ballast")
            try connection.transaction { () throws(StorageError) in try connection.insertThing(2, text) }
            #expect(try connection.countThings() == 2)
            #expect(try connection.first(SQL("PRAGMA integrity_check")) { $0.text(0) } == "ok")
        }
    }

    @Test func `after a write that fails for another reason the connection is not trusted, and a new one is`()
        async throws
    {
        let folder = try Folder()
        let path = folder.database
        await #expect(processExitsWith: .success) { [path = path as String] in
            let connection = try SQLiteConnection(path: path)
            try connection.run(SQL("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT) STRICT"))
            try connection.insertThing(1, "one")
            try #require(Self.limitFileSize(to: 50_000))
            let text = String(repeating: "x", count: 100_000)
            let error = storageError { () throws(StorageError) in
                try connection.transaction { () throws(StorageError) in try connection.insertThing(2, text) }
            }
            guard case .ioFailure = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try #require(Self.limitFileSize(to: rlim_t.max))
            #expect(storageError { () throws(StorageError) in _ = try connection.countThings() } == error)
            #expect(storageError { () throws(StorageError) in try connection.begin() } == error)
            let second = try SQLiteConnection(path: path, options: SQLiteOptions(busyTimeoutMilliseconds: 100))
            #expect(try second.countThings() == 1)
            try second.insertThing(2, text)
        }
        #expect(try folder.connect().countThings() == 2)
    }

    /// Puts a file system of 1 MiB at a path, seen by this process alone; false where that cannot be done.
    ///
    /// `unshare` is not in the module of the C library.
    private static func mountSmallDisk(at path: String) -> Bool {
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let symbol = unsafe dlsym(nil, "unshare") else { return false }
        let newMounts: Int32 = 0x20000  // CLONE_NEWNS
        guard unsafe unsafeBitCast(symbol, to: Unshare.self)(newMounts) == 0 else { return false }
        guard unsafe mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0 else { return false }
        return unsafe mount("tmpfs", path, "tmpfs", 0, "size=1m") == 0
    }

    /// Limits the files that this process writes; writing more fails, though not for want of room.
    private static func limitFileSize(to bytes: rlim_t) -> Bool {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: bytes, rlim_max: rlim_t.max)
        return unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0
    }
}
