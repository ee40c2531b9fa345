// SPDX-License-Identifier: Apache-2.0

/// The name of a log, under which its key signs: 1 to 128 of `[A-Za-z0-9._/-]`, by convention a URL without its scheme.
///
/// Source: [C2SP tlog-checkpoint](https://c2sp.org/tlog-checkpoint).
package struct LogOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The name as it is written in checkpoints.
    package let text: String

    /// Nil for anything else.
    package init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    /// The name itself.
    package var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "/"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
