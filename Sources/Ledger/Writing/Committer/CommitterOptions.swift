// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import ServiceRuntime
package import Storage

/// How a committer works: what it is in the service, and figures that are tuned.
package struct CommitterOptions: Sendable {
    /// Whether it acknowledges what others seal or disable, by recording that nothing is signed any more.
    ///
    /// The committer of the service does: it runs for long, so it also reads which subjects have grants.
    package var acknowledges: Bool
    /// Which instance it is, where several share the database.
    package var instance: UniqueID?
    /// When the thread is woken for requests.
    package var wakeUp: Committer.WakeUp
    /// How many requests wait at most; more are refused.
    package var maximumWaiting = 4096
    /// Called for each request: returns the thread that wants the answer, or `nil` for any thread.
    package var askingThread: @Sendable () -> (any AskingThread)? = { nil }
    /// How long a commit is put off so that more requests share it.
    package var groupCommitDelay: GroupCommitDelay
    /// Measures how long a batch takes, by a clock that cannot be set.
    package var stopwatch = WallClock.system.stopwatch()
    /// Which refusals of apps are entries of their own; `nil`: all.
    package var appRefusals: AppRefusals?
    /// How grants are compacted.
    package var compaction = CompactionOptions()

    /// A committer with the figures above; a command's needs none of the arguments.
    package init(
        acknowledges: Bool = false,
        instance: UniqueID? = nil,
        wakeUp: Committer.WakeUp = .forEachRequest,
        groupCommitDelay: GroupCommitDelay = GroupCommitDelay()
    ) {
        self.acknowledges = acknowledges
        self.instance = instance
        self.wakeUp = wakeUp
        self.groupCommitDelay = groupCommitDelay
    }
}

/// The database that a committer writes to.
package struct CommitterDatabase: Sendable {
    /// Opens the connection that the committer owns; called again after an I/O error, which leaves a connection in an
    /// unknown state.
    package let open: ConnectionOpener
    /// Where the database must still be for a commit to count; `nil` for one that can't be moved away.
    package let place: DatabaseFiles?
    /// Checkpoints the write-ahead log of a database in a file; started and stopped with the committer.
    package let logKeeper: WALCheckpointer?

    package init(
        place: DatabaseFiles? = nil,
        logKeeper: WALCheckpointer? = nil,
        open: @escaping ConnectionOpener
    ) {
        self.open = open
        self.place = place
        self.logKeeper = logKeeper
    }
}
