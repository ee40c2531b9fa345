// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import ServiceRuntime

/// Why the log was not exported, or not to its end.
package enum LogExportError: Error, Hashable, Sendable, CustomStringConvertible {
    case log(AuditReadError)
    /// A file that is there has other bytes than the log has; it is left as it is.
    case differs(path: String)
    /// The folder has the checkpoint of a larger log.
    case newerCheckpoint(size: Int64)
    /// The folder has the checkpoint of a log that this one does not begin with.
    case otherHistory(size: Int64)
    case cannotRead(path: String, String)
    case cannotWrite(path: String, String)

    /// Whether the folder is not one of this log; nothing is wrong with the log or the disk.
    package var isOfFolder: Bool {
        switch self {
        case .differs, .newerCheckpoint, .otherHistory: true
        case .log, .cannotRead, .cannotWrite: false
        }
    }

    /// A sentence for the person who exports.
    package var description: String {
        switch self {
        case .log(let error): error.description
        case .differs(let path):
            "\(path) is not what the log has there: the log or the folder was changed. Nothing was overwritten."
        case .newerCheckpoint(let size):
            "The folder has the checkpoint of a log of \(size) entries, which is more than this one has."
        case .otherHistory(let size):
            "The folder has the checkpoint of a log of \(size) entries, and the first \(size) of this one are others: the "
                + "log or the folder was changed. Nothing was overwritten."
        case .cannotRead(let path, let reason): "\(path) can't be read: \(reason)."
        case .cannotWrite(let path, let reason): "\(path) can't be written: \(reason)."
        }
    }
}

/// Writes the log into a folder in the tlog-tiles layout, to be verified without this program or its database.
///
/// An export may be repeated and interrupted: it compares what is there and writes only what is missing, the checkpoint
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
    private let progress: ProgressReport

    /// `progress` is called with the number of entries written.
    package init(reader: LogReader, folder path: String, progress: @escaping ProgressReport = { _, _ in }) {
        self.reader = reader
        folder = LogFolder(path: path)
        self.progress = progress
    }

    /// Exports the tree of a checkpoint, or the newest tree if there is no checkpoint.
    ///
    /// Before it writes anything, it compares the tree with the checkpoint and with the checkpoint in the folder.
    package func write(_ checkpoint: PublishedCheckpoint?) throws(LogExportError) -> Report {
        let head = try head(of: checkpoint)
        try requireEarlierTree(than: head)
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

    /// The folder must hold an earlier state of this log, under any name: if this log was changed or has lost entries,
    /// the folder's checkpoint proves that.
    private func requireEarlierTree(than head: TreeHead) throws(LogExportError) {
        guard let present = try folder.read(Self.checkpointName, atMost: 65_536) else { return }
        // The signatures are for verifiers; a comparison with this tree needs none.
        let lines = present.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
        let text = lines.prefix(3).flatMap { $0 + [UInt8(ascii: "\n")] }
        guard let earlier = try? Checkpoint(parsing: text) else {
            throw .differs(path: "\(folder.path)/\(Self.checkpointName)")
        }
        guard earlier.size <= head.size else { throw .newerCheckpoint(size: earlier.size) }
        let root: SHA256Digest
        do { root = try reader.rootHash(ofSize: earlier.size) } catch { throw .log(error) }
        guard root == earlier.rootHash else { throw .otherHistory(size: earlier.size) }
    }

    private func writeLevel(_ level: Int, of head: TreeHead, _ report: inout Report) throws(LogExportError) {
        let (full, partialWidth) = TileCoordinate.extent(level: level, treeSize: head.size)
        for index in 0..<full {
            if level == 0 { progress(index * Int64(TileCoordinate.fullWidth), head.size) }
            try writeTile(level: level, index: index, width: TileCoordinate.fullWidth, &report)
        }
        if partialWidth > 0 { try writeTile(level: level, index: full, width: partialWidth, &report) }
    }

    /// Writes a tile, and below the lowest level its entries; parts of them that earlier exports have are compared.
    private func writeTile(
        level: Int,
        index: Int64,
        width: Int,
        _ report: inout Report
    ) throws(LogExportError) {
        let place = TilePath.place(index)
        for width in try folder.widths(beside: "tile/\(level)/\(place)", but: width) + [width] {
            guard let tile = TileCoordinate(level: level, index: index, width: width) else { continue }
            try put(.tile(tile), &report)
        }
        guard level == 0 else { return }
        for width in try folder.widths(beside: "tile/entries/\(place)", but: width) + [width] {
            try put(.entries(index: index, width: width), &report)
        }
    }

    private func put(_ path: TilePath, _ report: inout Report) throws(LogExportError) {
        let name = "tile/\(path.text)"
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
        // An earlier export may be larger than this one, but never larger than the log.
        guard let bytes else { throw .differs(path: "\(folder.path)/\(name)") }
        switch try folder.put(bytes, at: name) {
        case .written: report.written += 1
        case .same: report.compared += 1
        }
    }
}
