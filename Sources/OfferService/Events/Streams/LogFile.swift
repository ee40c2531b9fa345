// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime

/// Appends a line for each entry to a file that other programs read, rename and remove; used by one thread.
final class LogFile: LogSink {
    private let path: String
    private let creates: Bool
    private var descriptor: Int32 = -1
    /// Until the first write after the file was opened.
    private var needsRepair = true

    /// With `creates`, a file that is missing is made; it then belongs to the user of this process.
    init(path: String, creates: Bool = true) {
        (self.path, self.creates) = (path, creates)
    }

    deinit { close() }

    let isDurable = true
    let batchBytes = 1 << 20
    let isAcknowledged = true

    func bytes(of item: StreamItem) -> [UInt8] { item.line }

    func check() {}

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Writes all of it and has it on the disk, or takes back what was written of it.
    func write(_ bytes: [UInt8], isStopped: () -> Bool) throws(LogSinkError) {
        do throws(LogSinkError) {
            if descriptor < 0 || isMoved { try open() }
            // Released with the write: a test, or a thread that ends, may write as well.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                throw LogSinkError(description: "\(path) is being written by another process.", label: "file-locked")
            }
            defer { flock(descriptor, LOCK_UN) }
            try removeTornLine()
            try append(bytes)
        } catch {
            close()
            throw error
        }
    }

    /// Whether the path leads to another file by now, or to none.
    private var isMoved: Bool {
        var (own, named) = (stat(), stat())
        guard unsafe fstat(descriptor, &own) == 0, unsafe lstat(path, &named) == 0 else { return true }
        return own.st_dev != named.st_dev || own.st_ino != named.st_ino
    }

    private func open() throws(LogSinkError) {
        close()
        let flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
        descriptor = unsafe Glibc.open(path, creates ? flags | O_CREAT : flags, 0o600)
        guard descriptor >= 0 || creates || errno != ENOENT else {
            let advice = "does not exist yet. The service makes it with its next entry; then test again."
            throw LogSinkError(description: "\(path) \(advice)", label: "file")
        }
        guard descriptor >= 0 else { throw failure("cannot be opened") }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("cannot be read") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw LogSinkError(description: "\(path) is not a regular file.", label: "file-kind")
        }
        if status.st_size == 0 { try syncDirectory() }
        needsRepair = true
    }

    /// Removes a last line without its end, as a crash may leave it; its entry is written again.
    private func removeTornLine() throws(LogSinkError) {
        guard needsRepair else { return }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("cannot be read") }
        if status.st_size > 0 { try removeTornLine(size: Int64(status.st_size)) }
        needsRepair = false
    }

    private func removeTornLine(size: Int64) throws(LogSinkError) {
        let start = max(0, size - Self.longestLine)
        var bytes = [UInt8](repeating: 0, count: Int(size - start))
        guard unsafe pread(descriptor, &bytes, bytes.count, Int(start)) == bytes.count else {
            throw failure("cannot be read")
        }
        let isTorn = bytes.last != 0x0A
        let lineStart = (isTorn ? bytes : bytes.dropLast()).lastIndex(of: 0x0A).map { $0 + 1 }
        // Of a whole line that is longer than any of ours should be, the start is not looked for.
        if !isTorn, lineStart == nil, start > 0 { return }
        let line = bytes[(lineStart ?? 0)...]
        guard lineStart != nil || start == 0, Self.lineHeads.contains(where: { $0.starts(with: line.prefix($0.count)) })
        else {
            let reason = "\(path) does not end with a line of this service; name another file."
            throw LogSinkError(description: reason, label: "file-content")
        }
        guard isTorn else { return }
        guard ftruncate(descriptor, Int(start) + (lineStart ?? 0)) == 0, fsync(descriptor) == 0 else {
            throw failure("cannot be written")
        }
    }

    private static let longestLine: Int64 = 64 << 10
    /// Of an entry, and of a test.
    private static let lineHeads = [Array(#"{"index":"#.utf8), Array(#"{"test":"#.utf8)]

    private func append(_ bytes: [UInt8]) throws(LogSinkError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("cannot be read") }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw takenBack(to: Int(status.st_size)) }
            rest = rest.dropFirst(count)
        }
        guard fdatasync(descriptor) == 0 else { throw failure("cannot be written") }
    }

    /// After a failure, a part of a line must not wait there until the disk has room again.
    private func takenBack(to size: Int) -> LogSinkError {
        let error = failure("cannot be written")
        var status = stat()
        // Another process may have emptied the file.
        if unsafe fstat(descriptor, &status) == 0, status.st_size > size { _ = ftruncate(descriptor, size) }
        return error
    }

    /// Makes the file's name as durable as its contents.
    private func syncDirectory() throws(LogSinkError) {
        let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let folder = unsafe Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure("lies in a folder that cannot be opened") }
        defer { Glibc.close(folder) }
        guard fsync(folder) == 0 else { throw failure("lies in a folder that cannot be written") }
    }

    private func failure(_ text: String) -> LogSinkError {
        LogSinkError(description: "\(path) \(text): \(systemMessage(errno)).", label: "file")
    }
}
