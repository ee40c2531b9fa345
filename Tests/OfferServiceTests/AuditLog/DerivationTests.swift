// SPDX-License-Identifier: Apache-2.0
import OfferService
import Storage
import TestSupport
import Testing
import TransparencyLog

@testable import Ledger

/// What is derived from the log is written by the committer, and is no request's concern.
@Suite(.overBothEngines) struct DerivationTests {
    private static func derive(_ service: TestService, _ sql: SQL) async -> LedgerError? {
        await mayBlock { [committer = service.committer] in
            do throws(LedgerError) {
                try committer.doBlocking { connection throws(StorageError) in try connection.run(sql) }
                return nil
            } catch {
                return error
            }
        }
    }

    @Test(arguments: [Faults.diskFull, Faults.ioFailure])
    func `fails alone, and the service still signs`(error: StorageError) async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            #expect(try await service.sign(offer: "open").status == 200)
            faults.failCommits(error)
            let insertion = SQL("INSERT INTO audit_index_runs VALUES (7, x'5B5D')")
            #expect(await Self.derive(service, insertion) == .database(error))
            let readiness = try await service.send(.get("/health/ready"))
            #expect(readiness.status == 200, "\(readiness)")
            #expect(try await service.sign(offer: "open").status == 200)
            let tables = AuditIndexTables(connection: try service.ledger.openForReading())
            #expect(try tables.runs().isEmpty)
            #expect(await Self.derive(service, insertion) == nil)
            #expect(try tables.runs() == [7])
            #expect(try service.entries("sign.intent").count == 2)
        }
    }

    @Test func `is refused once the committer has stopped`() async throws {
        try await withService { service async throws in
            await service.stop()
            #expect(await Self.derive(service, SQL("DELETE FROM audit_index_runs")) == .stopped)
        }
    }
}

/// The threads that read the log.
@Suite(.overBothEngines) struct LogReadersTests {
    @Test func `turn away what is more than they hold, and answer the rest`() async throws {
        let log = try RandomLog(seed: 12)
        try log.grow(by: 3)
        let readers = LogReaders(threads: 1, maximumWaiting: 2, open: log.ledger.openForReading)
        // Not yet started, so that all of them wait.
        let outcomes = await withTaskGroup(of: Result<Int64, LogReadersError>.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    do throws(LogReadersError) {
                        return .success(
                            try await readers.read { connection throws(AuditReadError) in
                                try AuditReader(connection: connection).size()
                            }
                        )
                    } catch {
                        return .failure(error)
                    }
                }
            }
            var outcomes: [Result<Int64, LogReadersError>] = []
            for _ in 0..<3 { if let outcome = await group.next() { outcomes.append(outcome) } }
            readers.start()
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        #expect(outcomes == Array(repeating: .failure(.overloaded), count: 3) + [.success(3), .success(3)])
        await mayBlock { readers.stop() }
        await #expect(throws: LogReadersError.stopped) {
            try await readers.read { _ throws(AuditReadError) in 0 }
        }
    }

    @Test func `open a new connection after one that failed`() async throws {
        let log = try RandomLog(seed: 13)
        let opened = Recorder()
        let ledger = log.ledger
        let readers = LogReaders(threads: 1) { () throws(StorageError) in
            opened.add()
            return try ledger.openForReading()
        }
        readers.start()
        for _ in 0..<3 { _ = try await readers.read { _ throws(AuditReadError) in 0 } }
        #expect(opened.count == 1)
        let failure = AuditReadError.database(Faults.ioFailure)
        await #expect(throws: LogReadersError.log(failure)) {
            try await readers.read { _ throws(AuditReadError) in throw failure }
        }
        _ = try await readers.read { _ throws(AuditReadError) in 0 }
        #expect(opened.count == 2)
        await mayBlock { readers.stop() }
    }
}
