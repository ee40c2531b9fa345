// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import OfferDomain
import OfferService
import ServiceRuntime
import Storage
import Synchronization
import TestSupport
import Testing
import TransparencyLog

@testable import Ledger

/// The whole service: start, reload, stop, start again.
@Suite(.overBothEngines) struct ServiceTests {
    @Test func `records its start, its configuration, its keys and its end`() async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open").status == 200)
        }
        let entries = try place.entries()
        #expect(
            entries.map(\.["ev"].text) == [
                "epoch.begin", "service.start", "config.load", "key.load", "key.load", "key.load", "sign.intent",
                "service.stop",
            ]
        )
        #expect(entries[0]["epoch"] == .text("1"))
        #expect(entries[1]["version"] == .text(Program.version))
        #expect(entries[3]["kid"] == .text("ACTIVE0001"))
        #expect(entries[3]["spki"].text == place.publicKeys["active.p8"]?.spkiSHA256.hex)
        #expect(entries[5]["origin"] == .text("example.com/log") && entries[5]["spki"].text?.count == 64)
        #expect(entries[2]["rules"] == entries[6]["rules"])
        let keys = try TemporaryDirectory.read(place.directory.path(of: "keys"))
        #expect(entries[2]["keys"].text == SHA256.digest(of: keys).hex)
        #expect(entries[2]["settings"].text == place.settings.digest.hex)
    }

    @Test func `remembers caps, idempotency keys and the order of entries over a restart`() async throws {
        let place = try RunningPlace()
        let customer = #""customerId": "ada""#
        var first: Reply?
        try await place.run { service async throws in
            let call = place.call(offer: "once", customer).with("Idempotency-Key", "k")
            first = try await place.send(call, to: service)
            #expect(first?.status == 200)
        }
        place.clock.advance(hours: -2)
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "once", customer).problem == "not-eligible")
            let call = place.call(offer: "once", customer).with("Idempotency-Key", "k")
            let again = try await place.send(call, to: service)
            #expect(again.json["nonce"] == first?.json["nonce"] && again.status == 200)
        }
        let times = try place.entries().map(\.["t"].integer)
        #expect(times.allSatisfy { $0 == times[0] }, "the clock is behind, so recorded times do not advance")
    }

    @Test(.aboutSQLite) func `lets no second service write to its database`() async throws {
        let place = try RunningPlace()
        try await place.run { _ in
            do {
                _ = try place.service()
                Issue.record("a second service was made")
            } catch ServiceError.database(.inUse) {
            }
        }
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open").status == 200, "the lock is free again")
        }
    }

    /// Each would find the other's checkpoint in it, and what one has signed last would be in no file of its own.
    @Test(.aboutPostgreSQL)
    func `starts no second service with the same checkpoint file`() async throws {
        let place = try RunningPlace()
        try await place.run { _ in
            do {
                _ = try place.service()
                Issue.record("a second service was made")
            } catch ServiceError.log(let mismatch) {
                #expect(mismatch.description.contains("is another service's (process \(getpid()))"), "\(mismatch)")
                #expect(mismatch.description.hasSuffix("see --checkpoint-file."), "\(mismatch)")
            }
        }
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open").status == 200, "the lock is free again")
        }
    }

    @Test func `lets the next service start once it has stopped, even while references to it remain`() async throws {
        let place = try RunningPlace()
        let first = try place.service()
        try first.start()
        await mayBlock { first.stop() }
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open").status == 200)
        }
        withExtendedLifetime(first) {}
    }

    @Test func `keeps nothing in memory once it has stopped`() async throws {
        let place = try RunningPlace()
        // Every part that answers requests holds the random source, and beside it the keys.
        weak var held: ScriptedRandom?
        func live() async throws {
            let random = ScriptedRandom()
            held = random
            let service = try place.service(random: random)
            try service.start()
            #expect(try await place.sign(service, offer: "open").status == 200)
            #expect(try await place.send(.get("/metrics"), to: service).body.contains("offer_signer_open_connections"))
            await mayBlock { service.stop() }
        }
        try await live()
        // Threads let go of what they used a moment after they have ended.
        #expect(try await eventually { held == nil })
    }

    @Test func `follows what commands change beside it`() async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            let callers = Callers(ledger: place.ledger, clock: place.clock.wallClock)
            let id = try #require(CallerID("late"))
            let key = try callers.add(Caller(id: id, role: .backend, apps: []), expiresInDays: nil).get()
            var call = place.call(offer: "open")
            call.fields = [("Content-Type", "application/json"), ("Authorization", "Bearer \(key.credential)")]
            #expect(try await place.eventually(200, call, service))
            let keys = KeyDisabling(ledger: place.ledger, clock: place.clock.wallClock)
            try keys.set(try KeyID("ACTIVE0001"), isDisabled: true)
            #expect(try await place.eventually(503, call, service))
            try callers.revoke(id, keyID: nil).get()
            #expect(try await place.eventually(401, call, service))
        }
    }

    @Test func `is not ready while another instance keeps customers under a newer secret`() async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            #expect(try await place.send(.get("/health/ready"), to: service).status == 200)
            let digest = SQLValue.blob([UInt8](repeating: 0, count: 16))
            let connection = try place.ledger.openPatiently()
            try connection.run(
                SQL(
                    """
                    INSERT INTO secret_versions (name, ordinal, check_value, begun_at, first_entry)
                    VALUES ('next', 9, ?, 0, 0)
                    """,
                    digest
                )
            )
            #expect(try await place.eventually(503, .get("/health/ready"), service))
            let reply = try await place.send(.get("/health/ready"), to: service)
            #expect(reply.json["obstacles"].elements.map(\.["name"].text) == ["secret-outdated"], "\(reply)")
            try connection.run(SQL("DELETE FROM secret_versions WHERE name = 'next'"))
            #expect(try await place.eventually(200, .get("/health/ready"), service))
        }
    }

    @Test(.aboutPostgreSQL)
    func `is not ready while it can't say that it lives, and signs nothing`() async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            let connection = try place.ledger.openPatiently()
            try connection.run(SQL("ALTER TABLE instances RENAME TO instances_elsewhere"))
            place.clock.advance(hours: 1)
            #expect(try await place.eventually(503, .get("/health/ready"), service))
            let reply = try await place.send(.get("/health/ready"), to: service)
            #expect(reply.json["obstacles"].elements.map(\.["name"].text) == ["cut-off"], "\(reply)")
            #expect(try await place.sign(service, offer: "open").problem == "audit-unavailable")
            try connection.run(SQL("ALTER TABLE instances_elsewhere RENAME TO instances"))
            #expect(try await place.eventually(200, .get("/health/ready"), service))
            #expect(try await place.sign(service, offer: "open").status == 200)
        }
    }

    @Test func `says so when it can't read callers and key states, works on with those it has, and recovers`()
        async throws
    {
        let place = try RunningPlace()
        try await place.run { service async throws in
            let connection = try place.ledger.openPatiently()
            try connection.run(SQL("ALTER TABLE callers RENAME TO callers_elsewhere"))
            #expect(try await place.eventually(503, .get("/health/ready"), service))
            let reply = try await place.send(.get("/health/ready"), to: service)
            #expect(reply.json["obstacles"].elements.map(\.["name"].text) == ["states-unread"], "\(reply)")
            #expect(try await place.sign(service, offer: "open").status == 200)
            try connection.run(SQL("ALTER TABLE callers_elsewhere RENAME TO callers"))
            #expect(try await place.eventually(200, .get("/health/ready"), service))
        }
    }

    @Test func `takes a new configuration whole, and records it`() async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "fresh").problem == "unknown-offer")
            try place.rewrite("offers") { $0.replacing(#"id: "open""#, with: #"id: "fresh""#) }
            try place.rewrite("keys") { $0.replacing("ACTIVE0001", with: "ACTIVE0002") }
            await mayBlock { service.reload() }
            let reply = try await place.sign(service, offer: "fresh")
            #expect(reply.json["keyIdentifier"] == .text("ACTIVE0002"), "\(reply)")
        }
        let loads = try place.entries().filter { $0["ev"] == .text("config.load") }
        #expect(Set(loads.map(\.["rules"])).count == 2 && Set(loads.map(\.["keys"])).count == 2)
        #expect(try place.entries().count { $0["kid"] == .text("ACTIVE0002") && $0["ev"] == .text("key.load") } == 1)
    }

    @Test(arguments: ["offers", "keys", "active.p8"])
    func `keeps everything as it was when one of the files is bad`(bad: String) async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            try place.rewrite("offers") { $0.replacing(#"id: "open""#, with: #"id: "fresh""#) }
            try place.rewrite("keys") { $0.replacing("ACTIVE0001", with: "ACTIVE0002") }
            try place.rewrite(bad) { bad == "active.p8" ? String($0.dropLast(40)) : $0.replacing("Id:", with: "IDD:") }
            await mayBlock { service.reload() }
            let reply = try await place.sign(service, offer: "open")
            #expect(reply.json["keyIdentifier"] == .text("ACTIVE0001"), "\(reply)")
            #expect(try await place.sign(service, offer: "fresh").problem == "unknown-offer")
            let page = try MetricsPage(try await place.send(.get("/metrics"), to: service))
            #expect(page.samples[#"offer_signer_reloads_total{result="refused"}"#] == 1)
        }
        let events = try place.entries()
        let refusal = try #require(events.first { $0["ev"] == .text("config.refuse") })
        #expect(try #require(refusal["issues"].integer) > 0)
        #expect(refusal["why"].elements.map(\.text) == [bad == "offers" ? "offers" : "keys"])
        #expect(events.count { $0["ev"] == .text("config.load") } == 1)
        let complaints = place.log.lines.filter {
            $0.contains(place.directory.path(of: bad == "offers" ? "offers" : "keys"))
        }
        #expect(complaints.count == Int(try #require(refusal["issues"].integer)), "each issue has its line")
    }

    /// Where others share the database, a service hears of its own reload too, and may read between the two files.
    @Test(.overSQLite) func `mixes no files and fails no request during many reloads`() async throws {
        let place = try RunningPlace()
        let texts = try ["offers", "keys"].map {
            try String(contentsOfFile: place.directory.path(of: $0), encoding: .utf8)
        }
        let others = [
            texts[0].replacing("store_open", with: "store_other"),
            texts[1].replacing("ACTIVE0001", with: "ACTIVE0002").replacing("active.p8", with: "second.p8"),
        ]
        let second = try place.addKey("second.p8")
        let first = try #require(place.publicKeys["active.p8"])
        let reloads = Recorder()
        try await place.run { service async throws in
            let isEnough = Recorder()
            async let storm: Void = mayBlock {
                while isEnough.count == 0 {
                    let next = reloads.count.isMultiple(of: 2) ? others : texts
                    for (name, text) in zip(["offers", "keys"], next) { try? place.rewrite(name) { _ in text } }
                    service.reload()
                    reloads.add()
                }
            }
            var replies: [Reply] = []
            var seen: Set<String> = []
            // Until both were seen and there was a storm; the bound is for a service that gets stuck in one of them.
            for _ in 0..<2000 where seen.count < 2 || reloads.count < 100 {
                let wave = try await place.send((0..<40).map { _ in place.call(offer: "open") }, to: service)
                replies += wave
                for reply in wave {
                    let names = [reply.json["keyIdentifier"], reply.json["identifier"]].compactMap(\.text)
                    seen.insert(names.joined(separator: " "))
                }
                if wave.contains(where: { $0.status != 200 }) { break }
            }
            isEnough.add()
            await storm
            #expect(seen == ["ACTIVE0001 store_open", "ACTIVE0002 store_other"])
            for reply in replies {
                #expect(reply.status == 200, "\(reply)")
                let key = reply.json["keyIdentifier"] == .text("ACTIVE0001") ? first : second
                #expect(SignedAnswer(reply).isV1Signed(by: key))
            }
            let page = try MetricsPage(try await place.send(.get("/metrics"), to: service))
            let loaded = page.samples[#"offer_signer_reloads_total{result="loaded"}"#] ?? 0
            #expect(loaded >= Double(reloads.count))
        }
        let loads = try place.entries().filter { $0["ev"] == .text("config.load") }
        #expect(loads.count >= reloads.count + 1 && Set(loads.map(\.["rules"])).count == 2)
        let used = try place.entries().filter { $0["ev"] == .text("sign.intent") }
            .map { "\($0["kid"].text ?? "") \($0["offer"].text ?? "") \($0["rules"].text ?? "")" }
        #expect(Set(used).count == 2, "key, offer and policy go together: \(Set(used))")
    }

    @Test func `logs JSON, one object a line, and no secret`() async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            _ = try await place.sign(service, offer: "open", #""customerId": "needle""#)
            _ = try await place.sign(service, offer: "nothing")
            try place.rewrite("keys") { $0 + "garbage" }
            await mayBlock { service.reload() }
        }
        let lines = place.log.lines
        #expect(lines.count > 5)
        let pem = try String(contentsOfFile: place.directory.path(of: "active.p8"), encoding: .utf8)
        let secret = try String(contentsOfFile: place.directory.path(of: "customer-ids.key"), encoding: .utf8)
        let needles =
            [place.credential, String(place.credential.dropFirst(17)), secret.filter { !$0.isNewline }, "needle"]
            + pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.map(String.init)
        for line in lines {
            let entry = try Tree(line)
            #expect(entry.names.isSuperset(of: ["time", "level", "message"]), "\(line)")
            #expect(line.hasSuffix("\n") && !line.dropLast().contains("\n"))
            for needle in needles { #expect(!line.contains(needle), "\(line)") }
        }
    }
}

/// Files for a ``Service`` with its real parts, and what talks to it.
final class RunningPlace: Sendable {
    let directory: TemporaryDirectory
    let clock = SettableClock()
    let clockState = SettableClockState()
    let log = LogRecorder()
    let settings: Settings
    let ledger: LedgerAccess
    let publicKeys: [String: PublicKey]
    /// What callers present, by the name of the caller.
    let credentials: [String: String]
    let credential: String

    init(_ files: TestFiles = TestFiles()) throws {
        directory = try TemporaryDirectory()
        publicKeys = try TestService.write(files, into: directory)
        settings = try TestService.settings(in: directory, files)
        ledger = LedgerAccess(location: settings.database, clock: clock.wallClock)
        credentials = try TestService.addCallers(ledger, at: clock.now)
        credential = try #require(credentials["backend"])
    }

    func service(
        random: (any RandomSource)? = nil,
        _ change: (inout Dependencies) -> Void = { _ in }
    ) throws -> Service {
        let random: any RandomSource = if let random { random } else { try SystemRandom() }
        var dependencies = Dependencies(
            clock: clock.wallClock,
            random: random,
            log: Log(level: .debug, clock: clock.wallClock, sink: log.sink)
        )
        dependencies.clockStatus = clockState.status(clock)
        change(&dependencies)
        return try Service(settings: settings, dependencies: dependencies)
    }

    /// Runs `body` beside the service, and stops it however `body` ends.
    func run(_ body: (Service) async throws -> Void) async throws {
        await TestService.turnstile.enter()
        defer { TestService.turnstile.leave() }
        let service = try service()
        try service.start()
        do {
            try await body(service)
        } catch {
            await mayBlock { service.stop() }
            throw error
        }
        await mayBlock { service.stop() }
    }

    func addKey(_ name: String) throws -> PublicKey {
        let key = try PrivateKey.generate()
        try key.writePKCS8(to: directory.path(of: name))
        return key.publicKey
    }

    func rewrite(_ name: String, _ change: (String) -> String) throws {
        let text = try String(contentsOfFile: directory.path(of: name), encoding: .utf8)
        try directory.write(Array(change(text).utf8), to: name)
    }

    func call(offer: String, _ members: String = "") -> Call {
        Call(body: Array(offerBody(offer, members).utf8)).with("Content-Type", "application/json")
            .with("Authorization", "Bearer \(credential)")
    }

    func send(_ call: Call, to service: Service) async throws -> Reply {
        try await sendOverLoopback([call], to: service.port)[0]
    }

    func send(_ calls: [Call], to service: Service) async throws -> [Reply] {
        try await sendOverLoopback(calls, to: service.port)
    }

    func sign(_ service: Service, offer: String, _ members: String = "") async throws -> Reply {
        try await send(call(offer: offer, members), to: service)
    }

    /// Whether the call is answered with that status within a minute.
    func eventually(_ status: Int, _ call: Call, _ service: Service) async throws -> Bool {
        for _ in 0..<1200 {
            if try await send(call, to: service).status == status { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    func entries() throws -> [Tree] {
        var entries: [Tree] = []
        try AuditReader(connection: try ledger.openForReading()).entries(matching: AuditQuery()) { _, entry in
            entries.append((try? Tree(String(decoding: entry, as: UTF8.self))) ?? .null)
        }
        return entries
    }
}
