// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// The case whose raw value is this string; nil if no case has it, or if this is no string.
    ///
    /// The comparison is in place: most texts would have to be copied first to become a case.
    @inlinable
    package func choice<Choice: RawRepresentable<String> & CaseIterable>() -> Choice? {
        Choice.allCases.first { string(equals: $0.rawValue) }
    }
}
