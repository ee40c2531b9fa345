// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime

/// A folder that a log is exported to: files appear whole or not at all, and none is ever overwritten.
struct LogFolder {
    let path: String

    /// What became of a file.
    enum Outcome: Sendable {
        case written
        /// It was there, with the same bytes.
        case same
    }

    /// Writes a file that can only have these contents; an existing file is compared instead.
    func put(_ bytes: [UInt8], at name: String) throws(LogExportError) -> Outcome {
        if let present = try read(name, atMost: bytes.count + 1) {
            guard present == bytes else { throw .differs(path: "\(path)/\(name)") }
            return .same
        }
        try write(bytes, to: name)
        return .written
    }

    /// Puts a file there in the place of what it was; on the disk, with its name, when this returns.
    func write(_ bytes: [UInt8], to name: String) throws(LogExportError) {
        let target = "\(path)/\(name)"
        let folder = try makeFolder(of: target)
        let draft = "\(folder)/.\(getpid()).new"
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .cannotWrite(path: draft, systemMessage(errno)) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .cannotWrite(path: draft, systemMessage(errno)) }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0, unsafe rename(draft, target) == 0 else {
            throw .cannotWrite(path: target, systemMessage(errno))
        }
        try syncFolder(folder)
    }

    /// The bytes of a file, at most `maximum`; nil if there is no file.
    func read(_ name: String, atMost maximum: Int) throws(LogExportError) -> [UInt8]? {
        let file = "\(path)/\(name)"
        let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .cannotRead(path: file, systemMessage(errno))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: maximum)
        var filled = 0
        while filled < maximum {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(descriptor, buffer.baseAddress?.advanced(by: filled), maximum - filled)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .cannotRead(path: file, systemMessage(errno)) }
            if count == 0 { break }
            filled += count
        }
        return Array(bytes.prefix(filled))
    }

    /// How wide the other parts are that the folder has of a tile, beside the whole of it; in no order.
    func widths(beside tile: String, but one: Int) throws(LogExportError) -> [Int] {
        let folder = "\(path)/\(tile).p"
        guard let stream = unsafe opendir(folder) else {
            if errno == ENOENT { return [] }
            throw .cannotRead(path: folder, systemMessage(errno))
        }
        defer { unsafe closedir(stream) }
        var widths: [Int] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: UInt8.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            if let width = Int64(decimal: Array(name.utf8)[...]), 1..<256 ~= width, width != one {
                widths.append(Int(width))
            }
        }
        guard errno == 0 else { throw .cannotRead(path: folder, systemMessage(errno)) }
        return widths
    }

    /// Makes the folders that a file needs, and returns the file's own folder.
    private func makeFolder(of file: String) throws(LogExportError) -> String {
        let parts = file.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let folder = parts.joined(separator: "/")
        guard unsafe access(folder, F_OK) != 0 else { return folder }
        for end in parts.indices where !parts[end].isEmpty {
            let step = parts[...end].joined(separator: "/")
            guard unsafe mkdir(step, 0o700) == 0 || errno == EEXIST else {
                throw .cannotWrite(path: step, systemMessage(errno))
            }
        }
        return folder
    }

    /// Makes the names in a folder as durable as their contents.
    private func syncFolder(_ folder: String) throws(LogExportError) {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .cannotWrite(path: folder, systemMessage(errno)) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .cannotWrite(path: folder, systemMessage(errno)) }
    }
}
