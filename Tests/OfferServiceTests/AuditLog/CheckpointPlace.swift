// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import OfferService
import ServiceRuntime
import Storage
import Synchronization
import TestSupport
import TransparencyLog

@testable import Ledger

/// A database with a committer, a naive log beside it, and what publishes its checkpoints.
final class CheckpointPlace: Sendable {
    let directory: TemporaryDirectory
    let clock = SettableClock()
    let key: LogKey
    let heads: NaiveLog
    let file: CheckpointFile
    let ledger: LedgerAccess
    let committer: Committer
    let log = LogRecorder()
    let published = Mutex<[SignedCheckpoint]>([])
    let contradictions = Mutex<[String]>([])
    /// What stood in the database and in the file when a checkpoint was published.
    let keptBefore = Mutex<[[[UInt8]]]>([])

    init(
        _ heads: NaiveLog,
        key: LogKey? = nil,
        directory: TemporaryDirectory? = nil,
        faults: Faults = Faults()
    ) throws {
        self.heads = heads
        self.key = try key ?? makeLogKey()
        let directory = try directory ?? TemporaryDirectory()
        self.directory = directory
        guard let location = DatabaseLocation(directory.database("ledger.db")) else {
            throw Unmade(description: "a place for the database")
        }
        file = CheckpointFile(path: directory.path(of: "ledger.db.checkpoint"))
        let ledger = LedgerAccess(location: location, clock: clock.wallClock)
        self.ledger = ledger
        let metrics = Metrics()
        let opener: ConnectionOpener = { () throws(StorageError) in try faults.wrap(try ledger.openPatiently()) }
        committer = Committer(clock: clock.wallClock, observer: metrics, open: opener)
        committer.start(on: try opener())
    }

    /// A publisher after what is stored now.
    ///
    /// One of another instance has another `file`.
    func publisher(stored: SignedCheckpoint? = nil, file other: CheckpointFile? = nil) -> CheckpointPublisher {
        CheckpointPublisher(
            of: signable(other ?? file),
            stored: stored,
            clock: clock.wallClock,
            log: Log(level: .debug, clock: clock.wallClock, sink: log.sink),
            listener: CheckpointPublisher.Listener(
                published: { [self] signed in
                    let kept = [(try? self.stored().first?.note) ?? [], (try? file.read()) ?? []]
                    keptBefore.withLock { $0.append(kept) }
                    published.withLock { $0.append(signed) }
                },
                contradiction: { [self] reason in contradictions.withLock { $0.append(reason) } }
            )
        )
    }

    /// The naive log, with its checkpoints kept in the database and in `file`.
    func signable(_ file: CheckpointFile) -> SignableLog {
        SignableLog(key: key, heads: heads, keeping: DurableCheckpoints(committer: committer, file: file))
    }

    func stored() throws -> [CheckpointTable.Stored] {
        try CheckpointTable(connection: ledger.openForReading()).all()
    }

    func check() throws(LogMismatch) -> LogStartCheck.Outcome {
        let stored = (try? stored()) ?? []
        return try LogStartCheck(key: key, heads: heads, file: file).newest(stored: stored)
    }
}

/// Runs `body` beside a place, on a thread that may block, and ends its committer.
func withCheckpoints<Value: Sendable>(
    _ heads: NaiveLog,
    key: LogKey? = nil,
    directory: TemporaryDirectory? = nil,
    faults: Faults = Faults(),
    _ body: @escaping @Sendable (CheckpointPlace) throws -> Value
) async throws -> Value {
    let place = try CheckpointPlace(heads, key: key, directory: directory, faults: faults)
    let result = await mayBlock {
        let result = Result { try body(place) }
        place.committer.stop()
        return result
    }
    return try result.get()
}
