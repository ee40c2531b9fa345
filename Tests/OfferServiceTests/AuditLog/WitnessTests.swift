// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import HTTP
import OfferDomain
import OfferService
import ServiceRuntime
import Synchronization
import TestSupport
import Testing
import TransparencyLog

@testable import Ledger

/// Witnesses sign growth, and nothing else; whatever they do, checkpoints are published all the same.
struct WitnessTests {
    /// A place with witnesses that are real programs, and what publishes to them.
    private final class Stage: Sendable {
        let place: CheckpointPlace
        let fakes: [FakeWitness]
        let publisher: CheckpointPublisher
        let witnesses: Witnesses
        let client: Client

        init(_ place: CheckpointPlace, _ fakes: [FakeWitness], quorum: String = "all") throws {
            self.place = place
            self.fakes = fakes
            publisher = place.publisher(stored: try place.check().newest)
            client = try Client(ClientConfiguration(timeoutMilliseconds: 2000, allowsPlainHTTP: true))
            try client.start()
            let lines = fakes.enumerated().map { "witness w\($0) \($1.verifierKey) \($1.url)" }
            let members = fakes.indices.map { "w\($0)" }.joined(separator: " ")
            let policy = try LogPolicy(
                parsing: (lines + ["group g \(quorum) \(members)", "quorum g"]).joined(separator: "\n")
            )
            witnesses = Witnesses(
                policy,
                stored: try CheckpointTable(connection: place.ledger.openForReading())
                    .cosignatures(of: place.key.origin),
                storedNow: { [place] in
                    (try? CheckpointTable(connection: place.ledger.openForReading()).cosignatures(of: place.key.origin))
                        ?? []
                },
                context: WitnessContext(transport: client, publisher: publisher)
            )
            witnesses.start()
        }

        func publish(_ size: Int) {
            place.heads.grow(to: size)
            publisher.publish()
            witnesses.checkpointPublished()
        }

        func waits(_ isSo: () throws -> Bool) rethrows -> Bool {
            for _ in 0..<3000 {
                if try isSo() { return true }
                usleep(10_000)
            }
            return false
        }

        func isSigned(_ size: Int64) -> Bool {
            let note = publisher.latest
            return note?.checkpoint.size == size && note?.note.signatures.count == 1 + fakes.count
        }

        func stop() {
            client.stop()
            witnesses.stop()
        }

        var origin: String { place.key.origin.text }
    }

    private static func onStage(
        _ heads: NaiveLog = NaiveLog(),
        key: LogKey? = nil,
        directory: TemporaryDirectory? = nil,
        fakes: [FakeWitness],
        _ body: @escaping @Sendable (Stage) throws -> Void
    ) async throws {
        let key = try key ?? makeLogKey()
        for fake in fakes { try fake.trust(key.verifierKey.description) }
        try await withCheckpoints(heads, key: key, directory: directory) { place in
            let stage = try Stage(place, fakes)
            let result = Result { try body(stage) }
            stage.stop()
            try result.get()
        }
    }

    @Test func `has growth signed by all witnesses, and serves and keeps what they sign`() async throws {
        let fakes = [try FakeWitness(), try FakeWitness()]
        try await Self.onStage(fakes: fakes) { stage throws in
            #expect(!stage.witnesses.isQuorumMet)
            for size in [1, 2, 7, 8, 300, 301] {
                stage.publish(size)
                #expect(stage.waits { stage.isSigned(Int64(size)) }, "\(size)")
            }
            let note = try #require(stage.publisher.latest?.note)
            let keys = try fakes.map { try NoteVerifierKey($0.verifierKey) }
            #expect(try note.verified(by: keys + [stage.place.key.verifierKey]).count == 3)
            for fake in fakes { #expect(try fake.state(of: stage.origin).cosigned == [1, 2, 7, 8, 300, 301]) }
            let stored = try CheckpointTable(connection: stage.place.ledger.openForReading())
                .cosignatures(of: stage.place.key.origin)
            #expect(stored.count == 2 && stored.allSatisfy { $0.size == 301 })
            #expect(stage.witnesses.reports.allSatisfy { $0.state == .current && $0.size == 301 })
            #expect(stage.witnesses.isQuorumMet)
            var evidence = LogEvidence(key: stage.place.key.verifierKey)
            try evidence.add(CheckpointTable(connection: stage.place.ledger.openForReading()))
            #expect(evidence.promises.count == 3)
        }
    }

    @Test func `goes on after a restart from what each witness holds`() async throws {
        let (fake, key, directory) = (try FakeWitness(), try makeLogKey(), try TemporaryDirectory())
        let heads = NaiveLog()
        try await Self.onStage(heads, key: key, directory: directory, fakes: [fake]) { stage throws in
            stage.publish(5)
            #expect(stage.waits { stage.isSigned(5) })
        }
        try await Self.onStage(heads, key: key, directory: directory, fakes: [fake]) { stage throws in
            let before = try fake.state(of: stage.origin).requests
            #expect(stage.witnesses.reports[0].size == 5)
            stage.publish(9)
            #expect(stage.waits { stage.isSigned(9) })
            #expect(try fake.state(of: stage.origin).requests <= before + 2)
        }
        // Without what was kept, the witness says what it holds.
        try await Self.onStage(heads, key: key, fakes: [fake]) { stage throws in
            stage.publish(12)
            #expect(stage.waits { stage.isSigned(12) })
        }
    }

    @Test func `is refused a fork and a rollback by the witness, and says so loudly`() async throws {
        let (fake, key) = (try FakeWitness(), try makeLogKey())
        try await Self.onStage(NaiveLog(), key: key, fakes: [fake]) { stage throws in
            stage.publish(10)
            #expect(stage.waits { stage.isSigned(10) })
        }
        // Another log of that name, at first shorter than what the witness has seen, then longer.
        try await Self.onStage(NaiveLog(4, "other"), key: key, fakes: [fake]) { stage throws in
            stage.publish(4)
            #expect(stage.waits { stage.witnesses.reports[0].state == .refused })
            let report = stage.witnesses.reports[0]
            #expect(report.detail == "it holds 10 entries of this log, which has only 4")
            #expect(!stage.witnesses.isQuorumMet)
            #expect(stage.place.contradictions.withLock { $0 }.count == 1)
            let lines = stage.place.log.lines.filter { $0.contains("a witness refuses the audit log's checkpoint") }
            #expect(lines.count == 1 && lines[0].contains(#""level":"error""#))
            #expect(stage.publisher.latest?.checkpoint.size == 4, "nothing is held back for it")
        }
        try await Self.onStage(NaiveLog(20, "other"), key: key, fakes: [fake]) { stage throws in
            stage.publish(20)
            #expect(stage.waits { stage.witnesses.reports[0].state == .refused })
            #expect(stage.witnesses.reports[0].detail.contains("does not continue the one it holds (422)"))
            #expect(stage.place.contradictions.withLock { $0 }.count == 1)
            #expect(try fake.state(of: stage.origin).size == 10)
        }
        try await Self.onStage(NaiveLog(10, "other"), key: key, fakes: [fake]) { stage throws in
            stage.publish(10)
            #expect(stage.waits { stage.witnesses.reports[0].state == .refused })
            #expect(stage.witnesses.reports[0].detail == "it holds another log of 10 entries")
            #expect(stage.place.contradictions.withLock { $0 }.count == 1)
        }
    }

    /// Has one instance with a checkpoint of 7 that the witness has not seen, and the witness sign 9 for the other.
    private static func outrun(_ stage: Stage, by other: Stage) {
        stage.publish(5)
        #expect(stage.waits { stage.isSigned(5) })
        stage.place.heads.grow(to: 7)
        stage.publisher.publish()
        other.publish(9)
        #expect(stage.waits { other.isSigned(9) })
    }

    @Test func `takes it for no contradiction that another instance was faster`() async throws {
        try await Self.onStage(fakes: [try FakeWitness()]) { stage throws in
            let other = try Stage(stage.place, stage.fakes)
            defer { other.stop() }
            Self.outrun(stage, by: other)
            stage.witnesses.checkpointPublished()
            #expect(stage.waits { stage.witnesses.reports[0].size == 9 })
            #expect(stage.witnesses.reports[0].state == .current && stage.witnesses.isQuorumMet)
            #expect(stage.place.contradictions.withLock { $0 }.isEmpty)
            #expect(!stage.place.log.lines.contains { $0.contains("a witness refuses") })
            stage.publish(12)
            #expect(stage.waits { stage.isSigned(12) })
        }
    }

    @Test func `takes nothing for a contradiction while the log can't be asked`() async throws {
        try await Self.onStage(fakes: [try FakeWitness()]) { stage throws in
            let other = try Stage(stage.place, stage.fakes)
            defer { other.stop() }
            Self.outrun(stage, by: other)
            stage.place.heads.setHeadUnknown(true)
            stage.witnesses.checkpointPublished()
            #expect(stage.waits { stage.witnesses.reports[0].detail.contains("the log can't be read") })
            #expect(stage.witnesses.reports[0].state == .unreachable)
            stage.place.heads.setHeadUnknown(false)
            #expect(stage.waits { stage.witnesses.reports[0].state == .current })
            #expect(stage.place.contradictions.withLock { $0 }.isEmpty)
        }
    }

    struct FaultRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let state: Witnesses.Report.State
        let detail: String
        let harm: @Sendable (FakeWitness) throws -> Void
    }

    static let faults = [
        FaultRow(testDescription: "down", state: .unreachable, detail: "No connection") { $0.stop() },
        FaultRow(testDescription: "overloaded", state: .unreachable, detail: "status 503") { try $0.behave(.status) },
        FaultRow(testDescription: "elsewhere", state: .unreachable, detail: "status 302") {
            try $0.behave(.status, status: 302)
        },
        FaultRow(testDescription: "a forged signature", state: .unreachable, detail: "does not verify") {
            try $0.behave(.forged)
        },
        FaultRow(testDescription: "another key", state: .unreachable, detail: "no signature of witness.example/w1") {
            try $0.behave(.stranger)
        },
        FaultRow(testDescription: "garbage", state: .unreachable, detail: "not a list of signatures") {
            try $0.behave(.garbage)
        },
        FaultRow(testDescription: "too slow", state: .unreachable, detail: "did not arrive in time") {
            try $0.behave(delayMilliseconds: 5000)
        },
        FaultRow(testDescription: "without our key", state: .refused, detail: "does not know the log (404)") {
            try $0.distrust()
        },
        FaultRow(testDescription: "forbidden", state: .refused, detail: "does not trust the log's key (403)") {
            try $0.behave(.status, status: 403)
        },
    ]

    @Test(arguments: faults)
    func `says what is wrong with a witness, goes on without it, and has it sign when it can`(
        row: FaultRow
    ) async throws {
        let fakes = [try FakeWitness(), try FakeWitness()]
        try await Self.onStage(fakes: fakes) { stage throws in
            try row.harm(fakes[1])
            stage.publish(3)
            #expect(stage.waits { stage.witnesses.reports[1].state == row.state })
            #expect(stage.witnesses.reports[1].detail.contains(row.detail), "\(stage.witnesses.reports[1])")
            #expect(stage.waits { stage.witnesses.reports[0].size == 3 }, "the other one signs")
            stage.publish(4)
            #expect(stage.publisher.latest?.checkpoint.size == 4)
            #expect(stage.waits { stage.witnesses.reports[0].size == 4 })
            guard row.testDescription != "down" else { return }
            try fakes[1].trust(stage.place.key.verifierKey.description)
            try fakes[1].behave()
            #expect(stage.waits { stage.isSigned(4) })
            #expect(stage.waits { stage.witnesses.reports[1].state == .current })
        }
    }

    @Test func `tells in the metrics how each witness is`() async throws {
        let fake = try FakeWitness()
        try await Self.onStage(fakes: [fake]) { stage throws in
            stage.publish(3)
            #expect(stage.waits { stage.isSigned(3) })
            let page = try MetricsPage(
                Reply(
                    Response(
                        status: 200,
                        headers: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8")],
                        body: Array(Metrics().text(gauges: stage.witnesses.gauges).utf8)
                    )
                )
            )
            #expect(page.samples[#"offer_signer_witness_size{witness="w0"}"#] == 3)
            #expect(page.samples[#"offer_signer_witness_state{witness="w0",state="current"}"#] == 1)
            #expect(page.samples[#"offer_signer_witness_state{witness="w0",state="refused"}"#] == 0)
        }
    }
}
