// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// Why the log was not exported, or not to its end.
package enum LogExportError: Error, Hashable, Sendable, CustomStringConvertible {
    case log(AuditReadError)
    /// A file that is there has other bytes than the log has; it is left as it is.
    case differs(path: String)
    /// The folder has the checkpoint of a larger log.
    case newerCheckpoint(size: Int64)
    case cannotRead(path: String, String)
    case cannotWrite(path: String, String)

    /// Whether the folder is not one of this log; nothing is wrong with the log or the disk.
    package var isOfFolder: Bool {
        switch self {
        case .differs, .newerCheckpoint: true
        case .log, .cannotRead, .cannotWrite: false
        }
    }

    package var description: String {
        switch self {
        case .log(let error): error.description
        case .differs(let path):
            "\(path) is not what the log has there: the log or the folder was changed. Nothing was overwritten."
        case .newerCheckpoint(let size):
            "The folder has the checkpoint of a log of \(size) entries, which is more than this one has."
        case .cannotRead(let path, let reason): "\(path) can't be read: \(reason)."
        case .cannotWrite(let path, let reason): "\(path) can't be written: \(reason)."
        }
    }
}

/// Writes the log into a folder as tlog-tiles has it, for whoever verifies it without this program or its database.
///
/// It may be repeated and interrupted: what is there is compared, and only what is missing is written; the checkpoint comes
/// last.
package struct LogExport {
    /// What an export did.
    package struct Report: Hashable, Sendable {
        /// The size of the tree that the folder now has.
        package let size: Int64
        package fileprivate(set) var written = 0
        /// Files that were there already, with the bytes that they must have.
        package fileprivate(set) var compared = 0
    }

    private let reader: LogReader
    private let folder: LogFolder

    package init(reader: LogReader, folder path: String) {
        self.reader = reader
        folder = LogFolder(path: path)
    }

    /// Exports the tree of a checkpoint, or the newest one where there is no checkpoint.
    ///
    /// The tree is compared with the checkpoint before anything is written.
    package func write(_ checkpoint: PublishedCheckpoint?) throws(LogExportError) -> Report {
        let head = try head(of: checkpoint)
        try requireNoLarger(than: head)
        var report = Report(size: head.size)
        var level = 0
        while head.size >> (TileCoordinate.height * level) > 0 {
            try writeLevel(level, of: head, &report)
            level += 1
        }
        guard let checkpoint else { return report }
        if try folder.read(Self.checkpointName, atMost: checkpoint.note.count + 1) == checkpoint.note {
            report.compared += 1
        } else {
            try folder.write(checkpoint.note, to: Self.checkpointName)
            report.written += 1
        }
        return report
    }

    private static let checkpointName = "checkpoint"

    private func head(of checkpoint: PublishedCheckpoint?) throws(LogExportError) -> TreeHead {
        do throws(AuditReadError) {
            guard let head = checkpoint?.head else { return try reader.head() }
            guard try reader.rootHash(ofSize: head.size) == head.rootHash else {
                throw AuditReadError.log(.rootDiffers(size: head.size))
            }
            return head
        } catch {
            throw .log(error)
        }
    }

    /// A folder of a larger log is another log's, or this log has lost entries.
    private func requireNoLarger(than head: TreeHead) throws(LogExportError) {
        guard let present = try folder.read(Self.checkpointName, atMost: 65_536) else { return }
        let lines = present.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count > 1, let size = decimal(lines[1]) else {
            throw .differs(path: "\(folder.path)/\(Self.checkpointName)")
        }
        if size > head.size { throw .newerCheckpoint(size: size) }
    }

    private func writeLevel(_ level: Int, of head: TreeHead, _ report: inout Report) throws(LogExportError) {
        let (full, partialWidth) = TileCoordinate.extent(level: level, treeSize: head.size)
        for index in 0..<full { try write(level, index, TileCoordinate.fullWidth, &report) }
        if partialWidth > 0 { try write(level, full, partialWidth, &report) }
    }

    private func write(
        _ level: Int,
        _ index: Int64,
        _ width: Int,
        _ report: inout Report
    ) throws(LogExportError) {
        guard let tile = TileCoordinate(level: level, index: index, width: width) else { return }
        try put(.tile(tile), &report)
        if level == 0 { try put(.entries(index: index, width: width), &report) }
    }

    private func put(_ path: TilePath, _ report: inout Report) throws(LogExportError) {
        let bytes: [UInt8]?
        do throws(AuditReadError) {
            bytes =
                switch path {
                case .tile(let tile): try reader.tile(tile)
                case .entries(let index, let width): try reader.entryBundle(index, width: width)
                }
        } catch {
            throw .log(error)
        }
        guard let bytes else { throw .log(.noSuchTree(size: report.size)) }
        switch try folder.put(bytes, at: "tile/\(path.text)") {
        case .written: report.written += 1
        case .same: report.compared += 1
        }
    }
}
