// SPDX-License-Identifier: Apache-2.0

/// The one of some names that a misspelt one was most likely meant to be, for "did you mean".
///
/// Names are compared by the optimal string alignment distance (Damerau and Levenshtein: insert, delete, replace,
/// swap neighbors), without regard to the case of ASCII letters. A third of the letters may be wrong, and one always.
///
/// - Returns: The nearest, the earlier one of equals; nil if none is near, or the name is longer than 64 bytes.
package func nearest(to name: String, among candidates: [String]) -> String? {
    let folded = lowercased(name)
    guard !folded.isEmpty, folded.count <= 64 else { return nil }
    let most = max(1, folded.count / 3)
    var best: (name: String, distance: Int)?
    // What differs more in length differs more in letters, and that is quickly seen.
    for candidate in candidates where abs(candidate.utf8.count - folded.count) <= most {
        let distance = alignmentDistance(folded, lowercased(candidate))
        guard distance <= most, distance < best?.distance ?? .max else { continue }
        best = (candidate, distance)
    }
    return best?.name
}

private func lowercased(_ name: String) -> [UInt8] {
    name.utf8.map { $0 &- UInt8(ascii: "A") < 26 ? $0 | 0x20 : $0 }
}

private func alignmentDistance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...other.count)
    for row in one.indices {
        var current = [row + 1]
        for column in other.indices {
            let isSame = one[row] == other[column]
            var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (isSame ? 0 : 1))
            if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
                cost = min(cost, beforeLast[column - 1] + 1)
            }
            current.append(cost)
        }
        (beforeLast, last) = (last, current)
    }
    return last[other.count]
}
