// SPDX-License-Identifier: Apache-2.0

/// A text as one word of a shell's command, in quotes where it needs them.
package func shellWord(_ text: String) -> String {
    let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+@%:,=".contains($0)) }
    return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: #"'\''"#) + "'"
}
