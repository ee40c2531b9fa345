// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ServiceRuntime

/// The log in a folder, as an export left it, up to one of its checkpoints.
package struct FolderLog: LogSource {
    private let folder: String
    private let checkpoint: TreeHead

    /// Reads `path`, where the files of an export are, as a log with as many entries as the checkpoint says.
    package init(folder path: String, upTo checkpoint: TreeHead) {
        folder = path
        self.checkpoint = checkpoint
    }

    /// An export writes partial tiles of each level.
    package var storesPartialLeaves: Bool { true }

    /// The checkpoint that was given; the folder has no head of its own.
    package func head() -> TreeHead { checkpoint }

    /// Reads one bundle of entries, full or partial.
    package func entries(in span: Range<Int64>) throws(LogDamage) -> [[UInt8]] {
        let index = span.lowerBound / Int64(TileCoordinate.fullWidth)
        let maximum = TileCoordinate.fullWidth * (Int(UInt16.max) + 2)
        guard let bundle = read(.entries(index: index, width: span.count), maximum) else {
            throw .entryMissing(span.lowerBound)
        }
        var rest = bundle[...]
        var entries: [[UInt8]] = []
        while rest.count >= 2 {
            let count = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(2)
            guard rest.count >= count else { throw .entryMissing(span.lowerBound + Int64(entries.count)) }
            entries.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        guard rest.isEmpty, entries.count <= span.count else {
            throw .unreadable("the bundle of entry \(span.lowerBound) has more than its entries.")
        }
        return entries
    }

    /// Reads one tile; `nil` also if its file has another length.
    package func tile(level: Int, index: Int64, width: Int) throws(LogDamage) -> [UInt8]? {
        guard let tile = TileCoordinate(level: level, index: index, width: width) else { return nil }
        let byteCount = width * SHA256Digest.byteCount
        return read(.tile(tile), byteCount).flatMap { $0.count == byteCount ? $0 : nil }
    }

    /// Nil if the file is missing, is not a regular file, or has more bytes.
    private func read(_ path: TilePath, _ maximum: Int) -> [UInt8]? {
        try? TextFile.read("\(folder)/tile/\(path.text)", maximumBytes: maximum)
    }
}
