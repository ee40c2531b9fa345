// SPDX-License-Identifier: Apache-2.0
import Ledger
import TransparencyLog

/// What reads, signs and counts the records.
struct RecordParts: Sendable {
    let index: AuditIndex
    let indexer: AuditIndexer
    let readers: LogReaders
    let diagnosisReaders: LogReaders
    let eventReaders: LogReaders
    let reads: ReadRecorder
    let signedLog: SignedLog
    let reconciler: Reconciler
    let unredeemed: UnredeemedRecorder
    let traffic = MinuteCounter<UnauthenticatedTraffic>()
    let housekeeper: Housekeeper

    init(
        _ writing: WritingParts,
        after checked: SignedLog.Checked,
        _ dependencies: Dependencies
    ) throws(ServiceError) {
        let (runtime, ledger, committer, seal) = (writing.runtime, writing.ledger, writing.committer, writing.seal)
        index = AuditIndex(format: dependencies.auditIndex)
        indexer = AuditIndexer(index: index, committer: committer, log: runtime.log, open: ledger.openForReading)
        readers = LogReaders(open: ledger.openForReading)
        diagnosisReaders = LogReaders(threads: 1, maximumWaiting: 32, yields: true, open: ledger.openForReading)
        eventReaders = LogReaders(threads: 1, maximumWaiting: 32, yields: true, open: ledger.openForReading)
        reads = ReadRecorder(committer: committer, clock: runtime.clock, log: runtime.log)
        reconciler = Reconciler(ledger: ledger, clock: runtime.clock, log: runtime.log)
        unredeemed = UnredeemedRecorder(ledger: ledger, committer: committer, clock: runtime.clock, log: runtime.log)
        let signedLog = try SignedLog(
            writing.configuration.loaded,
            after: checked,
            committer: committer,
            runtime: runtime
        ) { reason in seal.seal(.checkpoint, detail: reason) }
        // Weak, because the log holds the seal.
        seal.keep(.checkpoint) { [weak signedLog] in signedLog?.contradiction }
        self.signedLog = signedLog
        housekeeper = Housekeeper(
            writing,
            counts: CountRecorder(
                committer: committer,
                fetches: reads.fetches,
                traffic: traffic,
                refusals: writing.appRefusals.counted,
                clock: runtime.clock
            )
        )
    }
}

extension RecordCalls {
    init(_ assembly: Assembly, isLogPublic: Bool) {
        let (parts, writing) = (assembly.records, assembly.writing)
        let (signedLog, reads, readers) = (parts.signedLog, parts.reads, parts.readers)
        let unrecorded = UnrecordedSignatures(writing.runtime)
        searches = SearchCalls(index: parts.index, readers: readers, reads: reads, unrecorded: unrecorded)
        diagnoses = DiagnosesCall(
            record: LogSearches(index: parts.index, readers: parts.diagnosisReaders) { await reads.note($0) },
            searches: SearchPool(),
            recorder: DiagnosisRecorder(committer: writing.committer, log: writing.runtime.log),
            store: assembly.stores.appStore,
            unrecorded: unrecorded,
            rates: DiagnosisRates(writing.runtime)
        )
        log = LogCalls(readers: readers, reads: reads, isPublic: isLogPublic) {
            [publisher = signedLog.publisher] in publisher.latest.map(PublishedCheckpoint.init)
        }
        checkpoints = CheckpointCalls(
            signedLog,
            head: { signedLog.newestHead },
            reads: reads,
            isPublic: isLogPublic
        )
        reconciliation = ReconciliationCall(reconciler: parts.reconciler, reads: reads)
        let searches = LogSearches(index: parts.index, readers: parts.eventReaders) { await reads.note($0) }
        grants = GrantCall(admission: writing.admission, searches: searches, reads: reads)
        events = EventsCall(admission: writing.admission, searches: searches, reads: reads)
        eventEndpoints = EventEndpointsCall(
            readers: readers,
            reads: reads,
            settings: { [configuration = writing.configuration] in configuration.loaded.events },
            deliveryStatuses: { [deliverer = assembly.events] in deliverer.deliveryStatuses }
        )
    }
}

extension StopCalls {
    init(_ writing: WritingParts, _ records: RecordParts) {
        keys = KeysCall(
            seal: writing.seal,
            current: writing.current,
            lastUses: LastKeyUses(
                own: { [committer = writing.committer] in committer.keyUses },
                readers: records.readers
            ),
            reads: records.reads,
            refresh: { [housekeeper = records.housekeeper] in await housekeeper.lookNow() }
        )
        seal = SealCall(seal: writing.seal, reads: records.reads)
    }
}
