// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

/// How much is reported about a text with many mistakes.
struct MismatchesTests {
    /// The elements of an array, each noted as wrong.
    private func noted(_ count: Int, in mismatches: Mismatches) throws {
        let text = "[\((0..<count).map { _ in "7" }.joined(separator: ","))]"
        let array = try #require(try JSONDocument(Array(text.utf8)).root.array)
        for element in array { mismatches.add(element, "expected a string") }
    }

    @Test(arguments: [0, 1, 64, 65, 500])
    func `reports the first 64 mistakes of a request with their pointers, and counts the others`(count: Int) throws {
        let mismatches = Mismatches()
        try noted(count, in: mismatches)
        #expect(mismatches.all.map(\.pointer) == (0..<min(count, 64)).map { "/\($0)" })
        #expect(mismatches.more == max(0, count - 64))
        #expect(mismatches.count == count)
    }

    @Test func `reports all mistakes of a file`() throws {
        let mismatches = Mismatches(admitsNull: false, most: .max)
        try noted(500, in: mismatches)
        #expect(mismatches.all.map(\.pointer) == (0..<500).map { "/\($0)" })
        #expect(mismatches.more == 0)
    }

    /// Finding a place means reading everything before it.
    @Test func `does not look for the place of a mistake that is only counted`() {
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
