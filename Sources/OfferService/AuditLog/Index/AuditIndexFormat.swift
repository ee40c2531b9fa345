// SPDX-License-Identifier: Apache-2.0

/// The measures of the index over the audit log.
///
/// The default values suit the service; tests use others to reach rare cases.
package struct AuditIndexFormat: Hashable, Sendable {
    /// What `audit_index_state.version` says of indexes that this program can read.
    package static let version: Int64 = 1
    /// The number of bits that identify an entry within its run.
    static let offsetBits = 14

    /// How many consecutive entries one run is about; 64 to 16,384, a multiple of 64.
    package let entriesPerRun: Int
    /// The bits of a key; 1 to 50.
    ///
    /// Two values with the same key cost a look at an entry, never a wrong answer.
    package let keyBits: Int

    /// Takes a multiple of 64 entries, and 1 to 50 bits; traps on anything else.
    package init(entriesPerRun: Int = 16_384, keyBits: Int = 40) {
        precondition((64...(1 << Self.offsetBits)).contains(entriesPerRun) && entriesPerRun % 64 == 0, "a run's size")
        precondition((1...50).contains(keyBits), "a key's bits")
        self.entriesPerRun = entriesPerRun
        self.keyBits = keyBits
    }

    /// The run that has an entry.
    func run(of index: Int64) -> Int64 { index / Int64(entriesPerRun) }

    /// The entries of a run.
    func entries(ofRun run: Int64) -> Range<Int64> {
        run * Int64(entriesPerRun)..<(run + 1) * Int64(entriesPerRun)
    }
}
