// SPDX-License-Identifier: Apache-2.0

/// Where a tile is: up to 256 neighboring hashes of one level of the tree.
///
/// The hashes of level L are those of the trees of 256^L leaves. Source: C2SP tlog-tiles.
package struct TileCoordinate: Hashable, Sendable {
    /// How many levels of the tree one tile covers.
    static let height = 8
    /// How many hashes a full tile has.
    package static let fullWidth = 256
    /// No tile of a tree that can be is beyond this one.
    static let maximumIndex = Int64.max / Int64(fullWidth) - 1

    /// 0...63; 0 has the hashes of entries.
    package let level: Int
    /// Counts from 0, the earliest entries.
    package let index: Int64
    /// How many hashes, 1...256.
    package let width: Int

    /// A tile; nil where a number is out of its range.
    package init?(level: Int, index: Int64, width: Int = fullWidth) {
        guard 0...63 ~= level, 0...Self.maximumIndex ~= index, 1...Self.fullWidth ~= width else { return nil }
        self.level = level
        self.index = index
        self.width = width
    }

    /// The tiles that a tree of that size has at a level: the number of full ones, and how wide the one after them is.
    package static func extent(level: Int, treeSize: Int64) -> (full: Int64, partialWidth: Int) {
        let hashes = treeSize >> (height * level)
        return (hashes / Int64(fullWidth), Int(hashes % Int64(fullWidth)))
    }

    /// Whether a tree of that size has the tile, as it is or as part of a wider one.
    package func isImplied(byTreeSize size: Int64) -> Bool {
        index * Int64(Self.fullWidth) + Int64(width) <= size >> (Self.height * level)
    }
}

/// What lies below `tile/` of a log: a tile, or the entries below one of level 0.
package enum TilePath: Hashable, Sendable {
    case tile(TileCoordinate)
    /// `width` entries, 1...256, from the one of index 256 times `index`.
    case entries(index: Int64, width: Int)

    /// Reads `0/x001/x234/067`, `0/x001/x234/067.p/112` or `entries/x001/x234/067`, without the path before it.
    ///
    /// Each tile has exactly one text. Any other text gives nil: leading zeros, empty groups, a width of 0 or 256.
    package init?(_ text: ArraySlice<UInt8>) {
        guard let slash = text.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let first = text[..<slash]
        guard let (index, width) = Self.place(text[(slash + 1)...]) else { return nil }
        if first.elementsEqual("entries".utf8) {
            self = .entries(index: index, width: width)
        } else if let level = Int64(decimal: first), level <= 63,
            let tile = TileCoordinate(level: Int(level), index: index, width: width)
        {
            self = .tile(tile)
        } else {
            return nil
        }
    }

    /// The path as text.
    package var text: String {
        switch self {
        case .tile(let tile): "\(tile.level)/\(Self.text(tile.index, tile.width))"
        case .entries(let index, let width): "entries/\(Self.text(index, width))"
        }
    }

    private static func place(_ text: ArraySlice<UInt8>) -> (index: Int64, width: Int)? {
        let parts = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard let last = parts.last else { return nil }
        let suffix = Array(".p".utf8)
        if parts.count > 1, parts[parts.count - 2].suffix(suffix.count).elementsEqual(suffix) {
            guard let width = Int64(decimal: last), 1..<Int64(TileCoordinate.fullWidth) ~= width else { return nil }
            var groups = Array(parts.dropLast())
            groups[groups.count - 1] = groups[groups.count - 1].dropLast(suffix.count)
            return index(groups).map { ($0, Int(width)) }
        }
        return index(parts).map { ($0, TileCoordinate.fullWidth) }
    }

    /// Groups of three digits, an `x` before each but the last; the first is not `x000`.
    private static func index(_ groups: [ArraySlice<UInt8>]) -> Int64? {
        guard groups.count <= 6 else { return nil }
        var index: Int64 = 0
        for (position, group) in groups.enumerated() {
            let isLast = position == groups.count - 1
            guard isLast || group.first == UInt8(ascii: "x") else { return nil }
            let digits = isLast ? group : group.dropFirst()
            guard digits.count == 3, digits.allSatisfy(isDigit) else { return nil }
            let value = digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
            guard position > 0 || isLast || value > 0 else { return nil }
            index = index * 1000 + value
        }
        return index <= TileCoordinate.maximumIndex ? index : nil
    }

    private static func text(_ index: Int64, _ width: Int) -> String {
        width == TileCoordinate.fullWidth ? place(index) : "\(place(index)).p/\(width)"
    }

    /// The text of an index, as it is in that of every full tile.
    static func place(_ index: Int64) -> String {
        var text = threeDigits(index % 1000)
        var rest = index / 1000
        while rest > 0 {
            text = "x\(threeDigits(rest % 1000))/\(text)"
            rest /= 1000
        }
        return text
    }

    private static func threeDigits(_ number: Int64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 3 - digits.count) + digits
    }
}

private func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

extension Int64 {
    /// A number from 0 as people write it: digits alone, no zero before others, within 64 bits; nil for anything else.
    package init?(decimal text: ArraySlice<UInt8>) {
        guard (1...19).contains(text.count), text.allSatisfy(isDigit) else { return nil }
        guard text.count == 1 || text.first != UInt8(ascii: "0") else { return nil }
        self.init(String(decoding: text, as: UTF8.self))
    }
}
