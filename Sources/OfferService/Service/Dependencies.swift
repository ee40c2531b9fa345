// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import Ledger
package import ServiceRuntime
package import Storage
package import Stores

/// What the service is given beside its settings: time, random numbers, the log, the ways to the database and to the
/// stores, and figures that are tuned.
///
/// The defaults are those of the program. Tests assemble the same service with others.
package struct Dependencies: Sendable {
    /// The time of day, and time for measuring.
    package var clock: WallClock
    /// What the system says of the clock.
    package var clockStatus = ClockStatus.system
    /// Where IDs and nonces come from.
    package var random: any RandomSource
    /// Where log lines go.
    package var log: Log
    /// Makes the access to the database at that location.
    package var database: @Sendable (DatabaseLocation, WallClock) -> LedgerAccess = {
        LedgerAccess(location: $0, clock: $1)
    }
    /// Opens the connection that the committer writes through.
    package var openForCommits: @Sendable (LedgerAccess) throws(StorageError) -> any DatabaseConnection = {
        (ledger) throws(StorageError) in try ledger.openForCommits()
    }
    /// The reserve on the database's disk; `nil` if the database is on a server.
    package var diskReserve: @Sendable (DatabaseLocation) -> DiskReserve? = { DiskReserve($0) }
    /// How the committer batches and how much may wait for it.
    package var committer = CommitterOptions(wakeUp: .onceATurn)
    /// How long SQLite's write-ahead log grows, in pages of 4,096 bytes, before a thread of its own checkpoints it.
    package var writeAheadLogPages = 1000
    /// How the audit index is laid out.
    package var auditIndex = AuditIndexFormat()
    /// How often the housekeeper looks at the database; `nil`: every 1,000 ms, or 500 where others share the database.
    package var housekeepingMilliseconds: Int?
    /// How often and for how long stores are asked again.
    package var storeRetries = RetryPolicy()
    /// By which it is seen whether threads stand still; a test that sets the time of day does not set this one.
    package var steadyClock = WallClock.system
    /// After how long the App Store is answered with a message, if nothing is decided by then; it waits for 700 ms.
    package var retentionMilliseconds: Int64 = 300
    /// Waits for that time.
    package var retentionPause = Pause.system
    /// How users' tokens are checked.
    package var userTokens = UserTokenOptions()
    /// How long a person who signs in to the console waits for the provider's token endpoint.
    package var signInMilliseconds = 10_000
    /// Where Google Play's purchases and messages come from; `nil`: from Google, as the settings say.
    package var googlePlay: GooglePlaySources?
    /// How the service verifies its own signatures.
    package var verify: SelfVerification.Verify = { $0.verifies($1, of: $2) }

    /// Everything but these three as in the program.
    package init(clock: WallClock, random: any RandomSource, log: Log) {
        self.clock = clock
        self.random = random
        self.log = log
    }

    /// What the program runs with: the system's clocks and random numbers, and a log on standard error.
    package static func system(logLevel: LogLevel, logStyle: LogStyle) throws(RandomError) -> Dependencies {
        let log = Log(level: logLevel, style: logStyle, clock: .system)
        return Dependencies(clock: .system, random: try SystemRandom(), log: log)
    }
}

/// What Google Play says, by answering and by pushing.
package struct GooglePlaySources: Sendable {
    /// Answers questions about purchases.
    package let purchases: any GooglePlayPurchaseSource
    /// Says which pushed messages are Google's; `nil`: none is taken.
    package let push: (any GooglePushAuthentication)?

    package init(purchases: any GooglePlayPurchaseSource, push: (any GooglePushAuthentication)?) {
        self.purchases = purchases
        self.push = push
    }
}
