// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// The case whose raw value this string is; nil if it is none's, or this is no string.
    ///
    /// Compared where it stands: most texts would have to be copied first to become a case.
    @inlinable
    package func choice<Choice: RawRepresentable<String> & CaseIterable>() -> Choice? {
        Choice.allCases.first { string(equals: $0.rawValue) }
    }
}
