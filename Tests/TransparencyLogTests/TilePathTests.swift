// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import TransparencyLog

/// Where tiles are, as the paths below `tile/` say it.
struct TilePathTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let text: String
        let path: TilePath?

        init(_ text: String, level: Int, _ index: Int64, width: Int = 256) {
            self.text = text
            path = TileCoordinate(level: level, index: index, width: width).map(TilePath.tile)
        }

        init(_ text: String, entries index: Int64, width: Int = 256) {
            self.text = text
            path = .entries(index: index, width: width)
        }

        var testDescription: String { text }
    }

    @Test(arguments: [
        Row("0/000", level: 0, 0),
        Row("0/999", level: 0, 999),
        Row("0/x001/000", level: 0, 1000),
        Row("0/x001/x234/067", level: 0, 1_234_067),
        Row("1/x010/x000/000", level: 1, 10_000_000),
        Row("0/273.p/112", level: 0, 273, width: 112),
        Row("2/000.p/1", level: 2, 0, width: 1),
        Row("63/x001/234.p/255", level: 63, 1234, width: 255),
        Row("0/x036/x028/x797/x018/x963/966", level: 0, 36_028_797_018_963_966),
        Row("entries/000", entries: 0),
        Row("entries/x001/x234/067.p/7", entries: 1_234_067, width: 7),
    ])
    func `reads and writes a path`(row: Row) throws {
        let path = try #require(row.path)
        #expect(TilePath(ArraySlice(row.text.utf8)) == path)
        #expect(path.text == row.text)
    }

    @Test(arguments: [
        "", "/", "0", "0/", "/000", "0/0", "0/00", "0/0000", "0/000/", "0//000", "0/000.p", "0/000.p/", "0/000.p/0",
        "0/000.p/01", "0/000.p/256", "0/000.p/1000", "0/000.p/+1", "0/000.p/1/", "0/000.q/1", "0/000p/1", "0/.p/1",
        "00/000", "01/000", "64/000", "-1/000", "+1/000", "0x0/000", "255/000", "0/001/000", "0/x000/000",
        "0/x000/x001/000", "0/x001", "0/x001/x002", "0/X001/000", "0/x01/000", "0/x0001/000", "0/x001/0a0",
        "0/x-01/000",
        "0/x001/000 ", " 0/000", "0/000%2Ep/1", "0/000.p/%31", "0/x001/../000", "0/\u{0661}00", "entries", "entries/",
        "entry/000", "Entries/000", "entries/0/000", "0/x036/x028/x797/x018/x963/967", "0/x999/x999/x999/x999/x999/999",
        "0/x001/x000/x000/x000/x000/x000/000", "18446744073709551616/000", "0/000.p/18446744073709551617",
        "0/000.p/1.p/1", "0/000\0",
    ])
    func `takes nothing that is not exactly a path`(text: String) {
        #expect(TilePath(ArraySlice(text.utf8)) == nil)
    }

    @Test func `reads back what it writes`() throws {
        var random = SplitMix(seed: 3)
        for _ in 0..<2000 {
            let most = TileCoordinate.maximumIndex >> Int64.random(in: 0...50, using: &random)
            let index = Int64.random(in: 0...most, using: &random)
            let width = Int.random(in: 1...256, using: &random)
            let level = Int.random(in: 0...63, using: &random)
            let tile = try #require(TileCoordinate(level: level, index: index, width: width))
            for path in [TilePath.tile(tile), .entries(index: index, width: width)] {
                #expect(TilePath(ArraySlice(path.text.utf8)) == path)
            }
        }
    }

    @Test func `knows the tiles of a tree of 70,000`() {
        func extent(_ level: Int) -> [Int64] {
            let (full, width) = TileCoordinate.extent(level: level, treeSize: 70_000)
            return [full, Int64(width)]
        }
        #expect((0...3).map(extent) == [[273, 112], [1, 17], [0, 1], [0, 0]])
        func isImplied(_ level: Int, _ index: Int64, _ width: Int) -> Bool? {
            TileCoordinate(level: level, index: index, width: width)?.isImplied(byTreeSize: 70_000)
        }
        #expect(isImplied(0, 272, 256) == true && isImplied(0, 273, 112) == true && isImplied(0, 273, 1) == true)
        #expect(isImplied(0, 273, 113) == false && isImplied(0, 273, 256) == false && isImplied(0, 274, 1) == false)
        #expect(isImplied(1, 1, 17) == true && isImplied(1, 1, 18) == false && isImplied(2, 0, 2) == false)
        #expect(isImplied(3, 0, 1) == false && isImplied(63, 0, 1) == false)
        #expect(isImplied(0, TileCoordinate.maximumIndex, 256) == false)
    }
}
