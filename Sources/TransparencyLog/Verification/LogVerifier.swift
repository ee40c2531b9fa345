// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// Computes the whole log again, from its entries, and compares it with everything that was said of it.
///
/// Takes the memory of one page of entries, and about two seconds for a million of them.
package struct LogVerifier {
    /// A head that was vouched for, and who or what holds it.
    package struct Promise: Hashable, Sendable {
        /// Where it was found, as the subject of a sentence.
        package let source: String
        /// What was vouched for.
        package let head: TreeHead

        package init(_ source: String, _ head: TreeHead) {
            self.source = source
            self.head = head
        }
    }

    /// What was found to be whole.
    package struct Report: Hashable, Sendable {
        /// The head that the entries lead to.
        package let head: TreeHead
        /// How many tiles were compared.
        package let tiles: Int
        /// The promises, from the smallest tree to the largest; the log keeps all of them.
        package let promises: [Promise]
    }

    private let source: any LogSource
    private let promises: [Promise]

    /// A verification of what `source` stores.
    package init(_ source: any LogSource, promises: [Promise]) {
        self.source = source
        self.promises = promises.sorted { $0.head.size < $1.head.size }
    }

    /// Verifies the whole log; the error names the first thing that is not as it was.
    ///
    /// After each page, `goesOn` is called with the number of entries done and the total. If it returns false, the
    /// verification ends with ``LogDamage/stopped``.
    package func run(_ goesOn: (_ done: Int64, _ total: Int64) -> Bool = { _, _ in true }) throws(LogDamage) -> Report {
        let head = try source.head()
        if let beyond = promises.last(where: { $0.head.size > head.size }) {
            throw .entriesMissing(beyond.source, signed: beyond.head.size, found: head.size)
        }
        var replay = Replay(source: source, open: promises[...])
        try replay.check()
        while replay.edge.size < head.size {
            let end = min(head.size, replay.edge.size + Int64(TileCoordinate.fullWidth))
            for entry in try source.entries(in: replay.edge.size..<end) { try replay.add(entry) }
            guard replay.edge.size == end else { throw .entryMissing(replay.edge.size) }
            try replay.compareFullTiles()
            guard goesOn(end, head.size) else { throw .stopped }
        }
        try replay.comparePartialTiles()
        guard replay.edge.head == head else { throw .headDiffers(size: head.size) }
        return Report(head: head, tiles: replay.tiles, promises: promises)
    }
}

/// The state of one verification.
private struct Replay {
    let source: any LogSource
    /// Those of larger trees than this one is yet.
    var open: ArraySlice<LogVerifier.Promise>
    var edge = TreeEdge()
    var tiles = 0
    /// By level, the tile that is not full.
    private var partials: [Int: TreeEdge.Tile] = [:]
    /// The hashes of level 0 since its last full tile.
    private var leaves: [UInt8] = []

    init(source: any LogSource, open: ArraySlice<LogVerifier.Promise>) {
        self.source = source
        self.open = open
    }

    mutating func add(_ entry: [UInt8]) throws(LogDamage) {
        let leaf = TreeHash.leaf(entry)
        edge.append(leaf)
        leaves += leaf.bytes
        try check()
    }

    /// Compares the tree with the promises for its size.
    mutating func check() throws(LogDamage) {
        while let next = open.first, next.head.size == edge.size {
            guard next.head == edge.head else { throw .promiseBroken(next.source, size: next.head.size) }
            open.removeFirst()
        }
    }

    mutating func compareFullTiles() throws(LogDamage) {
        for tile in edge.takeChanges() {
            let isFull = tile.hashes.count == TileCoordinate.fullWidth * SHA256Digest.byteCount
            partials[tile.level] = isFull ? nil : tile
            guard isFull else { continue }
            if tile.level == 0 { leaves = [] }
            try compare(tile)
        }
    }

    mutating func comparePartialTiles() throws(LogDamage) {
        for (level, tile) in partials.sorted(by: { $0.key < $1.key }) where level > 0 { try compare(tile) }
        guard source.storesPartialLeaves, !leaves.isEmpty else { return }
        let index = edge.size / Int64(TileCoordinate.fullWidth)
        try compare(TreeEdge.Tile(level: 0, index: index, hashes: leaves))
    }

    private mutating func compare(_ tile: TreeEdge.Tile) throws(LogDamage) {
        let width = tile.hashes.count / SHA256Digest.byteCount
        // A tile that has grown since begins with what it was.
        guard let stored = try source.tile(level: tile.level, index: tile.index, width: width),
            stored.prefix(tile.hashes.count).elementsEqual(tile.hashes)
        else { throw .tileDiffers(level: tile.level, index: tile.index) }
        tiles += 1
    }
}

/// The first thing that is found not to be as it was written.
package enum LogDamage: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(String)
    case entryMissing(Int64)
    case tileDiffers(level: Int, index: Int64)
    case headDiffers(size: Int64)
    case entriesMissing(String, signed: Int64, found: Int64)
    case promiseBroken(String, size: Int64)
    /// What is kept as a checkpoint is not one, or not signed by the log's key.
    case notBelieved(String, reason: String)
    /// Nothing was found, but not all of it was looked at.
    case stopped

    /// What was found, as a sentence that names the entry or tile.
    package var description: String {
        switch self {
        case .unreadable(let reason): "The log can't be read: \(reason)"
        case .entryMissing(let index): "Entry \(index) is missing or can't be read."
        case .tileDiffers(let level, let index):
            "Tile \(index) of level \(level) is missing, or does not have the hashes of the \(level == 0 ? "entries" : "tiles") "
                + "below it: it was changed, or one of them was."
        case .headDiffers(let size): "The \(size) entries do not lead to the hash that the log's head has."
        case .entriesMissing(let source, let signed, let found):
            "\(source) was signed over \(signed) entries, and there are \(found): entries are missing."
        case .promiseBroken(let source, let size):
            "\(source) was signed over \(size) entries that led to another hash: one of them was changed."
        case .notBelieved(let source, let reason): "\(source) is not to be believed: \(reason)"
        case .stopped: "The verification was stopped before its end."
        }
    }
}
