// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import HTTP
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing
import TransparencyLog

@testable import Ledger

/// The running service's log: signed, served, and started on only where it fits.
@Suite(.overBothEngines) struct SignedLogTests {
    /// What an auditor sends beside the path.
    private static func call(_ path: String, _ credential: String?) -> Call {
        let call = Call.get(path)
        return credential.map { call.with("Authorization", "Bearer \($0)") } ?? call
    }

    /// A place with an auditor, and the log's verifier key.
    private struct Place {
        let running: RunningPlace
        let auditor: String
        let key: NoteVerifierKey

        init(_ settings: [Setting: String] = [:]) throws {
            var files = TestFiles()
            files.settings = settings
            running = try RunningPlace(files)
            auditor = try #require(running.credentials["auditor"])
            let privateKey = try Ed25519PrivateKey(
                pem: SecretFile.read(path: running.directory.path(of: "audit-log.key"))
            )
            key = NoteVerifierKey(name: "example.com/log", algorithm: .ed25519, publicKey: privateKey.publicKey)
        }

        func checkpoint(_ service: Service) async throws -> SignedCheckpoint? {
            let reply = try await running.send(SignedLogTests.call("/audit/checkpoint", auditor), to: service)
            guard reply.status == 200 else { return nil }
            return try SignedCheckpoint(parsing: Array(reply.body.utf8), signedBy: key, at: SettableClock().now)
        }

        /// Waits until a checkpoint covers what is on record now.
        func covered(_ service: Service) async throws -> Checkpoint {
            let size = Int64(try running.entries().count)
            for _ in 0..<1200 {
                if let found = try await checkpoint(service)?.checkpoint, found.size >= size { return found }
                try await Task.sleep(for: .milliseconds(25))
            }
            throw Unmade(description: "a checkpoint of \(size) entries")
        }
    }

    @Test func `signs what is on record, serves it to auditors, and tells how the log is`() async throws {
        let place = try Place()
        try await place.running.run { service async throws in
            _ = try await place.running.sign(service, offer: "open")
            let checkpoint = try await place.covered(service)
            let reader = LogReader(connection: try place.running.ledger.openForReading())
            #expect(try reader.rootHash(ofSize: checkpoint.size) == checkpoint.rootHash)

            let reply = try await place.running.send(Self.call("/v1/audit/log", place.auditor), to: service)
            #expect(reply.status == 200 && reply.headers["cache-control"] == "no-store", "\(reply)")
            let json = reply.json
            #expect(json["origin"] == .text("example.com/log"))
            #expect(json["verifierKey"] == .text(place.key.description))
            #expect(try #require(json["size"].integer) >= checkpoint.size)
            #expect(try #require(json["checkpoint"]["size"].integer) >= checkpoint.size)
            #expect(json["checkpoint"]["signedAt"].text?.hasSuffix("Z") == true)
            #expect(json["witnesses"].elements.isEmpty && json["quorum"]["isMet"] == .boolean(true))

            let page = try MetricsPage(try await place.running.send(.get("/metrics"), to: service))
            #expect(try #require(page.samples["offer_signer_log_size"]) >= Double(checkpoint.size))
            #expect(page.samples["offer_signer_log_contradicted"] == 0)
            #expect(page.samples["offer_signer_checkpoint_age_seconds"] != nil)

            var verification = Tree.null
            for _ in 0..<1200 where verification == .null {
                verification = try await place.running.send(
                    Self.call("/v1/audit/log", place.auditor),
                    to: service
                ).json["verification"]
                try await Task.sleep(for: .milliseconds(25))
            }
            #expect(verification["outcome"] == .text("intact"), "\(verification)")
        }
        let file = try CheckpointFile(path: place.running.settings.checkpointPath).read()
        let last = try SignedCheckpoint(
            parsing: try #require(file),
            signedBy: place.key,
            at: SettableClock().now
        )
        #expect(try last.checkpoint.size == Int64(place.running.entries().count), "service.stop is covered too")
    }

    @Test func `shows the log to auditors and administrators, and to the public only with the setting`() async throws {
        let place = try Place()
        try await place.running.run { service async throws in
            _ = try await place.covered(service)
            for (name, status) in [("auditor", 200), ("admin", 200), ("backend", 403), ("app", 403)] {
                for path in ["/audit/checkpoint", "/v1/audit/log"] {
                    let reply = try await place.running.send(
                        Self.call(path, place.running.credentials[name]),
                        to: service
                    )
                    #expect(reply.status == status, "\(name) \(path): \(reply)")
                    if status == 403 { #expect(reply.problem == "role-not-allowed") }
                }
            }
            for path in ["/audit/checkpoint", "/v1/audit/log"] {
                #expect(try await place.running.send(.get(path), to: service).status == 401)
            }
        }
        let open = try Place([.publicLog: "yes"])
        try await open.running.run { service async throws in
            _ = try await open.covered(service)
            let reply = try await open.running.send(.get("/audit/checkpoint"), to: service)
            #expect(reply.status == 200 && reply.headers["content-type"] == "text/plain; charset=utf-8")
            #expect(reply.headers["cache-control"] == "no-cache")
            #expect(try await open.running.send(.get("/v1/audit/log"), to: service).status == 401)
        }
    }

    @Test func `does not start on yesterday's database, and says what to do`() async throws {
        let place = try Place()
        let directory = place.running.directory
        try await place.running.run { _ in }
        try directory.copyDatabase("ledger.db", to: "yesterday.db")
        try await place.running.run { service async throws in
            _ = try await place.running.sign(service, offer: "open")
        }
        try directory.copyDatabase("ledger.db", to: "today.db")
        try directory.copyDatabase("yesterday.db", to: "ledger.db")
        do {
            _ = try place.running.service()
            Issue.record("it started on yesterday's database")
        } catch ServiceError.log(let mismatch) {
            #expect(mismatch.description.contains("are missing"), "\(mismatch)")
            #expect(mismatch.description.contains("“Restore a backup” in docs/runbook.md"))
        }
        let entries = try place.running.entries().count
        try directory.copyDatabase("today.db", to: "ledger.db")
        #expect(try place.running.entries().count > entries)
        try await place.running.run { service async throws in
            #expect(try await place.running.sign(service, offer: "open").status == 200, "the right one is taken again")
        }
    }

    @Test func `begins a new log under another name only on command, never silently`() async throws {
        let place = try Place()
        try await place.running.run { service async throws in
            _ = try await place.running.sign(service, offer: "open")
        }
        let size = try place.running.entries().count
        try place.running.rewrite("keys") { $0.replacing("example.com/log", with: "example.com/log-2") }
        do {
            _ = try place.running.service()
            Issue.record("it started under another name")
        } catch ServiceError.log(let mismatch) {
            #expect(mismatch.description.contains("audit new-log --origin example.com/log-2"), "\(mismatch)")
        }
        let key = try LoadedConfiguration(place.running.settings).keys.logKey
        let new = NewLog(
            key: key,
            ledger: place.running.ledger,
            file: CheckpointFile(path: place.running.settings.checkpointPath),
            clock: place.running.clock.wallClock
        )
        // A checkpoint of that name that the log does not fit: it was used, and the database has forgotten it.
        let checkpointPath = place.running.settings.checkpointPath
        let signed = try [UInt8](Data(contentsOf: URL(filePath: checkpointPath)))
        let forgotten = TreeHead(size: 9999, rootHash: SHA256.digest(of: [1]))
        try Data(try SignedCheckpoint(forgotten, signedBy: key, at: place.running.clock.now).ownNote.bytes)
            .write(to: URL(filePath: checkpointPath))
        #expect(throws: NewLogError.self) { try new.begin() }
        try Data(signed).write(to: URL(filePath: checkpointPath))
        let outcome = try new.begin()
        #expect(outcome.previous.origin.text == "example.com/log" && outcome.previous.size == Int64(size))
        #expect(outcome.first.checkpoint.size == Int64(size) + 1)
        let old = try #require(outcome.oldFile)
        #expect(try String(contentsOfFile: old, encoding: .utf8).hasPrefix("example.com/log\n\(size)\n"))
        #expect(throws: NewLogError.self) { try new.begin() }
        try await place.running.run { service async throws in
            #expect(try await place.running.sign(service, offer: "open").status == 200)
        }
        let entry = try place.running.entries()[size]
        #expect(entry["ev"] == .text("log.restarted") && entry["origin"] == .text("example.com/log"))
        #expect(entry["size"].integer == Int64(size) && entry["root"].text?.count == 44)
    }

    /// What `audit new-log` had done when it was interrupted.
    enum Interruption: CaseIterable {
        case recorded, oldFileSetAside, newFileWritten
    }

    @Test(arguments: Interruption.allCases)
    func `goes on with a new log where that was interrupted, and tells the same loss`(
        after interruption: Interruption
    ) async throws {
        let place = try Place()
        let directory = place.running.directory
        try await place.running.run { _ in }
        try directory.copyDatabase("ledger.db", to: "yesterday.db")
        try await place.running.run { _ in }
        // Now the file alone knows how much there was.
        try directory.copyDatabase("yesterday.db", to: "ledger.db")
        try place.running.rewrite("keys") { $0.replacing("example.com/log", with: "example.com/log-2") }
        let file = CheckpointFile(path: place.running.settings.checkpointPath)
        let old = try file.read()
        let new = NewLog(
            key: try LoadedConfiguration(place.running.settings).keys.logKey,
            ledger: place.running.ledger,
            file: file,
            clock: place.running.clock.wallClock
        )
        let interrupted = try new.begin()
        let aside = try #require(interrupted.oldFile)
        try place.running.ledger.openPatiently().run(SQL("DELETE FROM checkpoints WHERE origin = 'example.com/log-2'"))
        if interruption != .newFileWritten { try FileManager.default.removeItem(atPath: file.path) }
        if interruption == .recorded { try FileManager.default.moveItem(atPath: aside, toPath: file.path) }

        let outcome = try new.begin()
        #expect(outcome.previous == interrupted.previous && outcome.oldFile == aside)
        #expect(outcome.first.checkpoint == interrupted.first.checkpoint)
        #expect(try file.read() == outcome.first.ownNote.bytes)
        #expect(try CheckpointFile(path: aside).read() == old, "the old one is still there")
        let restarts = try place.running.entries().filter { $0["ev"] == .text("log.restarted") }
        #expect(restarts.map(\.["size"].integer) == [interrupted.previous.size])
        try await place.running.run { service async throws in
            #expect(try await place.running.sign(service, offer: "open").status == 200)
        }
    }

    @Test func `a new log after one that has just begun says what that was`() async throws {
        let place = try Place()
        try await place.running.run { _ in }
        var outcomes: [NewLog.Outcome] = []
        for (old, name) in [("log", "log-2"), ("log-2", "log-3")] {
            try place.running.rewrite("keys") {
                $0.replacing("\"example.com/\(old)\"", with: "\"example.com/\(name)\"")
            }
            let new = NewLog(
                key: try LoadedConfiguration(place.running.settings).keys.logKey,
                ledger: place.running.ledger,
                file: CheckpointFile(path: place.running.settings.checkpointPath),
                clock: place.running.clock.wallClock
            )
            outcomes.append(try new.begin())
        }
        #expect(outcomes[1].previous == outcomes[0].first.checkpoint)
        #expect(try place.running.entries().count { $0["ev"] == .text("log.restarted") } == 2)
    }

    @Test(arguments: ["origin", "key"])
    func `refuses another name or key of the log on a reload`(change: String) async throws {
        let place = try Place()
        try await place.running.run { service async throws in
            if change == "origin" {
                try place.running.rewrite("keys") { $0.replacing("example.com/log", with: "example.com/other") }
            } else {
                let path = place.running.directory.path(of: "audit-log.key")
                try FileManager.default.removeItem(atPath: path)
                _ = try Ed25519PrivateKey.create(path: path)
            }
            await mayBlock { service.reload() }
            #expect(
                place.running.log.lines.contains { $0.contains("/auditLog") && $0.contains("can't change on a reload") }
            )
            #expect(try await place.covered(service).origin.text == "example.com/log")
        }
        #expect(try place.running.entries().contains { $0["ev"] == .text("config.refuse") })
    }

    @Test func `signs a checkpoint for entries of commands beside the service, without any request`() async throws {
        let place = try Place()
        try await place.running.run { service async throws in
            _ = try await place.covered(service)
            try place.running.ledger.change { _ in [.records(.exported(from: 0, count: 1))] }
            let size = Int64(try place.running.entries().count)
            #expect(try await place.covered(service).size >= size)
        }
    }

    @Test func `a changed entry that the verification finds seals the service, and ends its checkpoints`() async throws
    {
        let place = try Place()
        // Behind a whole tile, where the start does not look.
        try place.running.ledger.change { _ in (0..<300).map { .records(.exported(from: $0, count: 1)) } }
        let file = CheckpointFile(path: place.running.settings.checkpointPath)
        try await place.running.run { _ async throws in
            #expect(try await eventually { try file.read() != nil }, "it may be found before there is one, too")
        }
        let changed = TestedEngine.replacing(#""count":1"#, with: #""count":2"#, in: "entry")
        try place.running.directory.alter(
            "ledger.db",
            "UPDATE audit_entries SET entry = \(changed) WHERE entry_index = 100"
        )
        try await place.running.run { service async throws in
            #expect(try await place.running.eventually(503, .get("/health/ready"), service))
            #expect(try await place.running.sign(service, offer: "open").problem == "sealed")
            let page = try MetricsPage(try await place.running.send(.get("/metrics"), to: service))
            #expect(page.samples["offer_signer_log_contradicted"] == 1)
            #expect(page.samples["offer_signer_log_intact"] == 0)
        }
        let events = try place.running.entries().map(\.["ev"].text)
        let seal = try #require(events.firstIndex(of: "service.seal"))
        #expect(events.last == "service.stop")
        let note = try #require(try file.read())
        let last = try SignedCheckpoint(parsing: note, signedBy: place.key, at: SettableClock().now)
        #expect(last.checkpoint.size <= seal, "what came after the discovery is not vouched for")
    }

    @Test func `has witnesses sign, and reports the one that refuses`() async throws {
        let witness = try FakeWitness()
        let directory = try TemporaryDirectory()
        let policy = try directory.write(
            Array("witness w \(witness.verifierKey) \(witness.url)\nquorum w\n".utf8),
            to: "policy"
        )
        let place = try Place([.logPolicy: policy])
        try witness.trust(place.key.description)
        try await place.running.run { service async throws in
            let size = try await place.covered(service).size
            let key = try NoteVerifierKey(witness.verifierKey)
            var seconds: Int64?
            for _ in 0..<1200 where seconds == nil {
                seconds = try await place.checkpoint(service)?.note.verified(by: [key]).first?.seconds
                try await Task.sleep(for: .milliseconds(25))
            }
            #expect(try #require(seconds) > 1_700_000_000)
            let json = try await place.running.send(Self.call("/v1/audit/log", place.auditor), to: service).json
            #expect(json["witnesses"][0]["name"] == .text("w") && json["quorum"]["isMet"] == .boolean(true))
            #expect(json["witnesses"][0]["state"] == .text("current"), "\(json)")
            #expect(try #require(json["witnesses"][0]["size"].integer) >= size)
        }
        // The witness has seen more of this log than there is.
        try witness.hold("example.com/log", size: 1_000_000, root: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        try await place.running.run { service async throws in
            var state = Tree.null
            for _ in 0..<1200 where state != .text("refused") {
                state = try await place.running.send(
                    Self.call("/v1/audit/log", place.auditor),
                    to: service
                ).json["witnesses"][0]["state"]
                try await Task.sleep(for: .milliseconds(25))
            }
            #expect(state == .text("refused"))
            let page = try MetricsPage(try await place.running.send(.get("/metrics"), to: service))
            #expect(page.samples[#"offer_signer_witness_state{witness="w",state="refused"}"#] == 1)
            #expect(page.samples["offer_signer_log_contradicted"] == 1)
            let ready = try await place.running.send(.get("/health/ready"), to: service)
            #expect(ready.status == 503 && ready.body.contains("it holds 1000000 entries of this log"), "\(ready)")
            #expect(try await place.running.sign(service, offer: "open").problem == "sealed", "nothing is signed")
            #expect(try await place.checkpoint(service) != nil, "the log can be read nevertheless")
        }
    }

    @Test func `names every fault of a policy file`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(Array("log x\nfrog\n".utf8), to: "policy")
        var files = TestFiles()
        files.settings = [.logPolicy: path]
        let place = try TemporaryDirectory()
        _ = try TestService.write(files, into: place)
        let errors = issues(place, try TestService.settings(in: place, files)).errors.map {
            $0.replacing(directory.path + "/", with: "")
        }
        #expect(
            errors == [
                "error: policy:1: the key “x” is not NAME+ID+BASE64",
                "error: policy:2: “frog” is not one of log, witness, group, quorum",
                "error: policy: has no quorum line; “quorum none” demands no witness",
            ]
        )
    }
}
