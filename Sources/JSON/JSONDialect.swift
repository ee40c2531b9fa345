// SPDX-License-Identifier: Apache-2.0

/// The two ways in which a text is read.
package enum JSONDialect: Sendable {
    /// RFC 8259 and nothing else: UTF-8 without a byte order mark, no repeated member names, no text after the value.
    case strict
    /// [JSON5](https://spec.json5.org) for files that people edit: comments, trailing commas, single quotes, names
    /// without quotes (ASCII only), leading `+` and decimal point, hexadecimal integers.
    ///
    /// Narrower than JSON5 in three things: no `NaN` and no `Infinity`, no control characters in strings but the
    /// tabulator, no repeated names.
    case configuration
}

/// How much a text may ask of its reader; what lies beyond is refused, whatever its meaning.
package struct JSONLimits: Hashable, Sendable {
    /// Bytes of the whole text; at most 2 GiB whatever is asked for.
    package let maximumBytes: Int
    /// How many arrays and objects may lie in one another; 0 allows no array and no object.
    package let maximumDepth: Int
    /// Values and member names, counted together.
    package let maximumNodes: Int
    /// Bytes of one string or name, as written between its quotes.
    package let maximumStringBytes: Int
    /// Bytes of one number, as written.
    package let maximumNumberBytes: Int

    /// Sets the limits; as they stand they suit a request's body.
    ///
    /// `maximumDepth` bounds the reader's own recursion too, so it is held to 256.
    package init(
        maximumBytes: Int = 16384,
        maximumDepth: Int = 8,
        maximumNodes: Int = 512,
        maximumStringBytes: Int = 16384,
        maximumNumberBytes: Int = 128
    ) {
        self.maximumBytes = min(maximumBytes, Int(Int32.max))
        self.maximumDepth = min(maximumDepth, 256)
        self.maximumNodes = maximumNodes
        self.maximumStringBytes = maximumStringBytes
        self.maximumNumberBytes = maximumNumberBytes
    }

    /// Limits for a file that the operator wrote: 4 MiB, 200,000 values and names, 32 levels.
    package static let configuration = JSONLimits(maximumBytes: 4_194_304, maximumDepth: 32, maximumNodes: 200_000)
}
