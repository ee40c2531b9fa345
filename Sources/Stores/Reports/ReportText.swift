// SPDX-License-Identifier: Apache-2.0

extension String {
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }

    /// The words in lines of at most 115 characters, unless one is longer; each line begins with what is given.
    package func wrapped(first: String, rest: String) -> [String] {
        var lines: [String] = []
        for word in split(separator: " ") {
            if let last = lines.last, last.count + word.count < 110 {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append((lines.isEmpty ? first : rest) + word)
            }
        }
        return lines
    }
}
