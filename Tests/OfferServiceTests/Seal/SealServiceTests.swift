// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import OfferService
import ServiceRuntime
import TestSupport
import Testing

@testable import Ledger

/// The whole service, sealed: over restarts, beside other processes, and by itself.
@Suite(.overBothEngines) struct SealServiceTests {
    private static func files(_ settings: [Setting: String] = [:]) -> TestFiles {
        var files = TestFiles()
        files.settings = [.clockCheck: "seal"].merging(settings) { $1 }
        return files
    }

    @Test func `stays sealed over a restart, and so does a disabled key`() async throws {
        let place = try RunningPlace(Self.files())
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open").status == 200)
            #expect(try await place.act("/v1/keys/ACTIVE0001/disable", on: service).status == 200)
            #expect(try await place.act("/v1/seal", #"{"reason": "leak"}"#, on: service).status == 200)
        }
        place.clock.advance(hours: 1)
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open").problem == "key-unavailable")
            let other = place.call(offer: "open").replacing("com.example.app", with: "com.example.other")
            #expect(try await place.send(other, to: service).problem == "sealed")
            let keys = try await place.send(place.authorized(.get("/v1/keys"), as: "auditor"), to: service).json["keys"]
            #expect(keys[0]["disabledBy"] == .text("administrator"))
            #expect(keys[0]["lastUsedAt"].text == Timestamp(milliseconds: 1_782_907_200_123).rfc3339)
            #expect(try await place.act("/v1/unseal", #"{"reason": "over"}"#, on: service).status == 200)
            #expect(try await place.send(other, to: service).status == 200)
            #expect(try await place.act("/v1/keys/ACTIVE0001/enable", on: service).status == 200)
            #expect(try await place.sign(service, offer: "open").status == 200, "at once")
        }
    }

    @Test func `follows another process without any request, and says so on record`() async throws {
        let place = try RunningPlace(Self.files())
        try await place.run { service async throws in
            let seal = DatabaseSeal(ledger: place.ledger, clock: place.clock.wallClock)
            try seal.seal(detail: "leak")
            let wait = AcknowledgementWait(ledger: place.ledger, clock: .system)
            #expect(await mayBlock { wait.outcome() } == .acknowledged)
            #expect(try place.entries().suffix(2).map(\.["ev"].text) == ["service.seal", "service.sealed"])
            let reply = try await place.send(.get("/health/ready"), to: service)
            #expect(reply.json["obstacles"][0]["name"] == .text("sealed-administrator"), "\(reply)")
            #expect(try seal.unseal(try SealReason(Array("over".utf8)), SealSettings()) == [.administrator])
            #expect(try await place.eventually(200, place.call(offer: "open"), service))
        }
        let alone = AcknowledgementWait(ledger: place.ledger, clock: .system)
        #expect(await mayBlock { alone.outcome() } == .noService)
    }

    @Test func `is sealed from its first request when the clock is before the last record`() async throws {
        let place = try RunningPlace(Self.files())
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open").status == 200)
        }
        place.clock.advance(hours: -1)
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open").problem == "sealed")
            let refusal = try await place.act("/v1/unseal", #"{"reason": "never mind"}"#, on: service)
            #expect(refusal.problem == "still-sealed", "\(refusal)")
            place.clock.advance(hours: 2)
            #expect(try await place.act("/v1/unseal", #"{"reason": "set right"}"#, on: service).status == 200)
            // Where several share the database, a jump of this clock ends the lease too, until it is renewed.
            var status = 0
            for _ in 0..<(TestedEngine.isPostgreSQL ? 100 : 1) where status != 200 {
                status = try await place.sign(service, offer: "open").status
                if status != 200 { try await Task.sleep(for: .milliseconds(50)) }
            }
            #expect(status == 200)
        }
        let step = try #require(try place.entries().first { $0["ev"] == .text("clock.step") })
        #expect(step["from"].integer == 1_782_907_200_123 && step["to"].integer == 1_782_907_200_123 - 3_600_000)
    }

    @Test func `is sealed from its first request while nothing keeps the clock right, and goes on by itself`()
        async throws
    {
        let place = try RunningPlace(Self.files())
        place.clockState.synchronisation = .unsynchronised
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open").problem == "sealed")
            #expect(place.log.lines.contains { $0.contains("the service is sealed: nothing is signed") })
            place.clockState.synchronisation = .synchronised
            #expect(try await place.eventually(200, place.call(offer: "open"), service))
        }
    }

    @Test func `is ready with a warning where the clock is only warned of`() async throws {
        let place = try RunningPlace(Self.files([.clockCheck: "warn"]))
        place.clockState.synchronisation = .unknown(reason: "Operation not permitted")
        try await place.run { service async throws in
            let reply = try await place.send(.get("/health/ready"), to: service)
            #expect(
                reply.status == 200 && reply.json["warnings"][0]["name"] == .text("clock-unsynchronised"),
                "\(reply)"
            )
            #expect(try await place.sign(service, offer: "open").status == 200)
        }
    }

    @Test func `a file that is there before the start seals the first request`() async throws {
        let folder = try TemporaryFolder()
        try folder.write()
        let place = try RunningPlace(Self.files([.sealFile: folder.path]))
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open").problem == "sealed")
            try folder.remove()
            #expect(try await place.eventually(200, place.call(offer: "open"), service))
            try folder.write()
            #expect(try await place.eventually(503, place.call(offer: "open"), service))
        }
    }

    @Test(arguments: Wire.ofRun)
    func `a signature that does not verify seals the service, and is not returned`(wire: Wire) async throws {
        var files = TestFiles()
        let isFaulty = Recorder()
        files.verifies = { key, signature, digest in
            isFaulty.count == 0 && key.verifies(signature, of: digest)
        }
        try await withService(wire, files) { service async throws in
            #expect(try await service.sign(offer: "open").status == 200)
            isFaulty.add()
            let reply = try await service.sign(offer: "open")
            #expect(reply.status == 500 && reply.problem == "signing-failed", "\(reply)")
            #expect(service.seal.causes.map(\.cause) == [.selfVerification])
            let other = offerBody("open").replacing("com.example.app", with: "com.example.other")
            #expect(try await service.send(service.call(other)).problem == "sealed", "no other key is used either")
            #expect(try await eventually { try service.entries("service.seal").count == 1 })
            let entry = try service.entries("service.seal")[0]
            #expect(entry["by"] == .text("service") && entry["cause"] == .text("self-verification"))
            #expect(entry["reason"].text?.contains("ACTIVE0001") == true)
            service.seal.keep(.selfVerification) { "the self-test of key ACTIVE0001 failed" }
            #expect(try await service.act("/v1/unseal", body: #"{"reason": "try"}"#).problem == "still-sealed")
            service.seal.keep(.selfVerification) { nil }
            #expect(try await service.act("/v1/unseal", body: #"{"reason": "new machine"}"#).status == 200)
        }
    }

    @Test func `another part may seal, and says while it must stay`() async throws {
        try await withService { service async throws in
            service.seal.keep(.checkpoint) { "the log does not fit its checkpoint" }
            service.seal.seal(.checkpoint, detail: "entry 7 was changed")
            #expect(service.seal.isSealed)
            #expect(try await service.sign(offer: "open").problem == "sealed")
            let refusal = try await service.act("/v1/unseal", body: #"{"reason": "try"}"#)
            #expect(refusal.json["detail"].text?.contains("checkpoint: the log does not fit") == true, "\(refusal)")
        }
    }
}

extension Call {
    fileprivate func replacing(_ old: String, with new: String) -> Call {
        var call = self
        call.body = Array(String(decoding: body, as: UTF8.self).replacing(old, with: new).utf8)
        return call
    }
}

extension RunningPlace {
    fileprivate func authorized(_ call: Call, as caller: String) -> Call {
        credentials[caller].map { call.with("Authorization", "Bearer \($0)") } ?? call
    }

    fileprivate func act(_ path: String, _ body: String = "", on service: Service) async throws -> Reply {
        let call = Call(path: path, body: Array(body.utf8))
        let typed = body.isEmpty ? call : call.with("Content-Type", "application/json")
        return try await send(authorized(typed, as: "admin"), to: service)
    }
}
