// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

/// How much is told of a text that is wrong all over.
struct MismatchesTests {
    /// The elements of an array, each noted as wrong.
    private func noted(_ count: Int, in mismatches: Mismatches) throws {
        let text = "[\((0..<count).map { _ in "7" }.joined(separator: ","))]"
        let array = try #require(try JSONDocument(Array(text.utf8)).root.array)
        for element in array { mismatches.add(element, "expected a string") }
    }

    @Test(arguments: [0, 1, 64, 65, 500])
    func `of a request the first 64 are told with their places, and the others counted`(count: Int) throws {
        let mismatches = Mismatches()
        try noted(count, in: mismatches)
        #expect(mismatches.all.map(\.pointer) == (0..<min(count, 64)).map { "/\($0)" })
        #expect(mismatches.more == max(0, count - 64))
        #expect(mismatches.count == count)
    }

    @Test func `of a file all are told`() throws {
        let mismatches = Mismatches(admitsNull: false, most: .max)
        try noted(500, in: mismatches)
        #expect(mismatches.all.map(\.pointer) == (0..<500).map { "/\($0)" })
        #expect(mismatches.more == 0)
    }

    /// To find a place, all that stands before it is passed over.
    @Test func `nobody looks where those are that are only counted`() {
        let mismatches = Mismatches(most: 3)
        var looked = 0
        func mismatch() -> Mismatch {
            looked += 1
            return Mismatch(pointer: "/\(looked)", offset: 0, message: "is wrong")
        }
        for _ in 0..<100 { mismatches.add(mismatch()) }
        #expect(looked == 3)
        #expect(mismatches.count == 100)
    }
}
