// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
package import Ledger
import OfferDomain
package import ServiceRuntime
package import Storage
package import TransparencyLog

/// The log as others can rely on it: its checkpoints, its witnesses, and what the service finds when it verifies it.
package final class SignedLog: Sendable {
    /// The key that signs checkpoints, with the log's name.
    package let key: LogKey
    /// Signs checkpoints of what is durable.
    package let publisher: CheckpointPublisher
    /// `nil` without a policy.
    package let witnesses: Witnesses?
    /// Verifies the whole log once a day.
    package let watch: LogWatch
    /// What this instance has recorded last.
    private let recorded: @Sendable () -> TreeHead
    private let client: Client?
    private let heads: StoredLogHeads
    private let contradictions: Contradictions
    /// The witnesses to notify of new checkpoints; cleared at the end, because they hold the publisher.
    private let audience = Guarded<Witnesses?>(nil)
    private let log: Log

    /// What was found at the start of a log that fits what was signed of it.
    package struct Checked: Sendable {
        let ledger: LedgerAccess
        let file: CheckpointFile
        let outcome: LogStartCheck.Outcome
        let cosignatures: [CheckpointTable.StoredCosignature]
    }

    /// Compares the log in a database with what was signed of it, before anything is added to it.
    package static func check(
        _ ledger: LedgerAccess,
        connection: any DatabaseConnection,
        key: LogKey,
        file: CheckpointFile
    ) throws(ServiceError) -> Checked {
        let table = CheckpointTable(connection: connection)
        // Before the head: another instance may sign for more than that as soon as it is read.
        let stored: [CheckpointTable.Stored]
        do { stored = try table.all() } catch { throw .database(error) }
        let head: TreeHead
        do { head = try LedgerWriter(connection: connection).checkedHead() } catch { throw .records(error) }
        let heads = StoredLogHeads(newest: { head }, open: ledger.openForReading)
        do {
            return Checked(
                ledger: ledger,
                file: file,
                outcome: try LogStartCheck(key: key, heads: heads, file: file).newest(stored: stored),
                cosignatures: try table.cosignatures(of: key.origin)
            )
        } catch let error as LogMismatch {
            throw .log(error)
        } catch let error as StorageError {
            throw .database(error)
        } catch {
            throw .log(.unreadable(.noSuchTree(size: head.size)))
        }
    }

    /// Does nothing before ``start()``.
    ///
    /// `contradiction` is called with a description each time that the log differs from what was signed.
    package init(
        _ loaded: LoadedConfiguration,
        after checked: Checked,
        committer: Committer,
        runtime: Runtime,
        contradiction: @escaping @Sendable (String) -> Void
    ) throws(ServiceError) {
        key = loaded.keys.logKey
        log = runtime.log
        if checked.outcome.fileIsMissing { Self.warnOfMissingFile(checked.file, log) }
        contradictions = Contradictions(contradiction)
        recorded = { [committer] in committer.treeHead }
        let ledger = checked.ledger
        heads = StoredLogHeads(newest: ledger.isShared ? nil : recorded, open: ledger.openForReading)
        let signable = SignableLog(
            key: key,
            heads: heads,
            keeping: DurableCheckpoints(committer: committer, file: checked.file)
        )
        publisher = CheckpointPublisher(
            of: signable,
            stored: checked.outcome.newest,
            clock: runtime.clock,
            log: log,
            listener: Self.listener(for: audience, noting: contradictions)
        )
        watch = LogWatch(
            key: key.verifierKey,
            file: checked.file,
            open: ledger.openForReading,
            clock: runtime.clock,
            log: log
        )
        client = try Self.client(loaded.logPolicy)
        witnesses = client.flatMap { [publisher] client in
            let context = WitnessContext(transport: client, publisher: publisher)
            return Self.witnesses(loaded, after: checked, context)
        }
        audience.withLock { [witnesses] in $0 = witnesses }
    }

    /// Publishes until the log contradicts what was signed of it; the audience hears of each checkpoint.
    private static func listener(
        for audience: Guarded<Witnesses?>,
        noting contradictions: Contradictions
    ) -> CheckpointPublisher.Listener {
        CheckpointPublisher.Listener(
            mayPublish: { contradictions.latest == nil },
            published: { _ in audience.withLock { $0 }?.checkpointPublished() },
            contradiction: { contradictions.add($0) }
        )
    }

    private static func witnesses(
        _ loaded: LoadedConfiguration,
        after checked: Checked,
        _ context: WitnessContext
    ) -> Witnesses? {
        let (ledger, origin) = (checked.ledger, loaded.keys.log.origin)
        return loaded.logPolicy.map { policy in
            Witnesses(
                policy,
                stored: checked.cosignatures,
                storedNow: {
                    (try? CheckpointTable(connection: ledger.openForReading()).cosignatures(of: origin)) ?? []
                },
                context: context
            )
        }
    }

    /// What asks the witnesses; `nil` without any.
    private static func client(_ policy: LogPolicy?) throws(ServiceError) -> Client? {
        guard let policy, !policy.witnesses.isEmpty else { return nil }
        do throws(ClientError) {
            return try Client(ClientConfiguration(maximumResponseBytes: 65_536, allowsPlainHTTP: true))
        } catch {
            throw .client(error)
        }
    }

    private static func warnOfMissingFile(_ file: CheckpointFile, _ log: Log) {
        log(
            .warning,
            "the audit log's checkpoint file is missing; a database restored with it would not be noticed here",
            with: ["file": .text(file.path)]
        )
    }

    /// In what the log was found not to be what was signed of it; `nil` while all is well.
    package var contradiction: String? { contradictions.latest }

    /// The largest head that is known without asking the database: what this instance has recorded last, or what its publisher
    /// has found of others, half a second ago at most.
    package var newestHead: TreeHead {
        let (own, signed) = (recorded(), publisher.latest?.checkpoint.head ?? .empty)
        return own.size >= signed.size ? own : signed
    }

    /// Problems of the log that the operator should know.
    package var warnings: [Obstacle] {
        publisher.obstacle.map { [Obstacle("checkpoint-unsigned", $0)] } ?? []
    }

    /// Signs what is on record, and asks the witnesses to.
    package func start() throws(ServiceError) {
        do { try client?.start() } catch { throw .client(error) }
        publisher.start()
        witnesses?.start()
    }

    /// Begins to verify the log in the background, once the service answers.
    package func startVerifying() {
        watch.start { [contradictions] in contradictions.add($0) }
    }

    /// Signs for the last entries, and ends every thread; the committer must still run.
    package func stop() {
        watch.stop()
        publisher.stop()
        // First the client: every pending request then gets an answer.
        client?.stop()
        witnesses?.stop()
        audience.withLock { $0 = nil }
        heads.close()
    }

    /// For the metrics.
    package var gauges: [Gauge] {
        [
            Gauge(
                "offer_signer_log_size",
                help: "Entries of the audit log",
                [.init(Double(newestHead.size))]
            ),
            Gauge(
                "offer_signer_checkpoint_size",
                help: "Entries that the newest checkpoint covers",
                [.init(Double(publisher.latest?.checkpoint.size ?? 0))]
            ),
            Gauge(
                "offer_signer_checkpoint_age_seconds",
                help: "Seconds for which there have been entries that no checkpoint covers",
                [.init(publisher.ageSeconds)]
            ),
            Gauge(
                "offer_signer_log_contradicted",
                help: "1 once the audit log was found not to be what was signed of it",
                [.init(contradiction == nil ? 0 : 1)]
            ),
        ] + watch.gauges + Witnesses.gauges(of: witnesses?.reports ?? [])
    }
}

/// Remembers the first contradiction, and passes each on.
private final class Contradictions: Sendable {
    private let report: @Sendable (String) -> Void
    private let found = Guarded<String?>(nil)

    init(_ report: @escaping @Sendable (String) -> Void) {
        self.report = report
    }

    var latest: String? { found.withLock { $0 } }

    func add(_ reason: String) {
        found.withLock { $0 = reason }
        report(reason)
    }
}
