// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage
import TestSupport
import Testing
import TransparencyLog

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// Tiles, entries and proofs over HTTP.
@Suite(.overBothEngines) struct LogCallsTests {
    /// A log of 300 entries: a full tile of level 0, and one of 44.
    private func withLog(
        _ wire: Wire = .inProcess,
        isPublic: Bool = false,
        _ body: (TestService, LogReader, [[UInt8]]) async throws -> Void
    ) async throws {
        var files = TestFiles()
        if isPublic { files.settings[.publicLog] = "yes" }
        try await withService(wire, files) { service in
            try await service.committer.append((0..<300).map { .records(.exported(from: $0, count: 1)) })
            let connection = try service.ledger.openForReading()
            let entries = try connection.all(SQL("SELECT entry FROM audit_entries ORDER BY entry_index")) { $0.blob(0) }
            try await body(service, LogReader(connection: connection), entries)
        }
    }

    private func get(_ path: String, as caller: String? = "auditor", _ service: TestService) async throws -> Reply {
        var call = Call.get(path)
        if let credential = caller.flatMap({ service.credentials[$0] }) {
            call = call.with("Authorization", "Bearer \(credential)")
        }
        return try await service.send(call)
    }

    @Test(arguments: Wire.allCases, [false, true])
    func `serves tiles and bundles, to be kept for ever`(wire: Wire, isPublic: Bool) async throws {
        try await withLog(wire, isPublic: isPublic) { service, reader, entries async throws in
            let oracle = MerkleOracle(entries)
            let hashes = { (span: Range<Int>) in span.flatMap { oracle.root($0..<$0 + 1).bytes } }
            let bundle = { (span: Range<Int>) in
                span.flatMap { [UInt8(entries[$0].count / 256), UInt8(entries[$0].count % 256)] + entries[$0] }
            }
            let expected: [(path: String, bytes: [UInt8])] = [
                ("0/000", hashes(0..<256)), ("0/001.p/44", hashes(256..<300)), ("0/000.p/3", hashes(0..<3)),
                ("1/000.p/1", oracle.root(0..<256).bytes),
                ("entries/000", bundle(0..<256)), ("entries/001.p/44", bundle(256..<300)),
                ("entries/001.p/1", bundle(256..<257)),
            ]
            for (path, bytes) in expected {
                let reply = try await get("/audit/tile/\(path)", as: isPublic ? nil : "auditor", service)
                #expect(reply.status == 200, "\(path)")
                #expect(reply.body == String(decoding: bytes, as: UTF8.self), "\(path)")
                #expect(reply.headers["content-type"] == "application/octet-stream")
                let whose = isPublic ? "public" : "private"
                #expect(reply.headers["cache-control"] == "\(whose), max-age=31536000, immutable")
                if wire == .loopback { #expect(reply.headers["content-length"] == "\(bytes.count)") }
            }
        }
    }

    @Test func `answers 404 for a tile that the log does not have, and forbids caching of that answer`() async throws {
        try await withLog { service, _, _ async throws in
            for path in [
                "0/001", "0/001.p/45", "0/002.p/1", "1/000", "1/000.p/2", "2/000.p/1", "entries/001", "entries/002.p/1",
                "0/000.p/0", "0/000.p/256", "0/0", "8/000", "63/000", "64/000", "x", "0/000/", "entries", "entries/",
                "0/x000/000", "../checkpoint", "0/000%2Ep/1",
            ] {
                let reply = try await get("/audit/tile/\(path)", service)
                #expect(reply.status == 404 && reply.problem == "not-found", "\(path) \(reply)")
                #expect(reply.headers["cache-control"] == "no-store")
                #expect(reply.json["detail"].text == "The audit log has no such entry or tile, or not yet.")
            }
            for path in ["/audit/tile", "/audit/tile/", "/audit/til/0/000"] {
                #expect(try await get(path, service).problem == "not-found", "\(path)")
            }
        }
    }

    @Test(.overSQLite, arguments: ["/audit/tile/0/000", "/v1/audit/entries/7", "/v1/audit/entries/7/proof"])
    func `answers auditors and administrators alone`(path: String) async throws {
        try await withLog { service, _, _ async throws in
            #expect(await service.publishCheckpoint() != nil)
            for caller in ["auditor", "admin"] { #expect(try await get(path, as: caller, service).status == 200) }
            for caller in ["app", "backend", "scoped"] {
                #expect(try await get(path, as: caller, service).problem == "role-not-allowed")
            }
            #expect(try await get(path, as: nil, service).problem == "unauthenticated")
        }
    }

    @Test func `a public log shows tiles without a credential, but not single entries or proofs`() async throws {
        try await withLog(isPublic: true) { service, _, _ async throws in
            #expect(try await get("/audit/tile/entries/000", as: nil, service).status == 200)
            #expect(try await get("/audit/tile/0/000", as: "app", service).status == 200)
            #expect(try await get("/v1/audit/entries/7", as: nil, service).problem == "unauthenticated")
            #expect(try await get("/v1/audit/entries/7/proof", as: nil, service).problem == "unauthenticated")
        }
    }

    @Test(arguments: Wire.allCases)
    func `gives an entry as its bytes and as what they say`(wire: Wire) async throws {
        try await withLog(wire) { service, _, entries async throws in
            for index in [0, 255, 256, 299] {
                let reply = try await get("/v1/audit/entries/\(index)", service)
                #expect(reply.status == 200 && reply.json.names == ["index", "bytes", "entry"])
                #expect(reply.json["index"].integer == Int64(index))
                #expect(Base64.decode(Array((reply.json["bytes"].text ?? "").utf8)) == entries[index])
                #expect(reply.json["entry"] == (try Tree(String(decoding: entries[index], as: UTF8.self))))
                #expect(reply.headers["cache-control"] == "no-store")
            }
            for index in ["400", "-1", "007", "+7", "7 ", "9223372036854775807", "9223372036854775808", "x", "%37"] {
                let path = "/v1/audit/entries/\(index.replacing(" ", with: "%20"))"
                for path in [path, "\(path)/proof"] {
                    let reply = try await get(path, service)
                    #expect(reply.problem == "not-found", "\(index)")
                    #expect(reply.json["detail"].text == "The audit log has no such entry or tile, or not yet.")
                }
            }
        }
    }

    @Test(arguments: Wire.allCases)
    func `proves an entry under the newest checkpoint, once there is one that has it`(wire: Wire) async throws {
        try await withLog(wire) { service, _, entries async throws in
            let none = try await get("/v1/audit/entries/7/proof", service)
            #expect(none.status == 409 && none.problem == "not-yet-covered")
            #expect(none.headers["retry-after"] == "1")
            let oracle = MerkleOracle(entries)
            let checkpoint = try #require(await service.publishCheckpoint())
            #expect(checkpoint.checkpoint.size == 300)
            let note = String(decoding: checkpoint.note.bytes, as: UTF8.self)
            try await service.committer.append([.records(.exported(from: 300, count: 1))])
            for index in [0, 7, 255, 256, 299] {
                let reply = try await get("/v1/audit/entries/\(index)/proof", service)
                let hashes = oracle.path(index, 0..<300).map {
                    String(decoding: Base64.encode($0.bytes), as: UTF8.self)
                }
                let lines = ["c2sp.org/tlog-proof@v1", "index \(index)"] + hashes + ["", note]
                #expect(reply.status == 200 && reply.body == lines.joined(separator: "\n"))
                #expect(reply.headers["content-type"] == "text/plain; charset=utf-8")
            }
            #expect(try await get("/v1/audit/entries/300/proof", service).problem == "not-yet-covered")
            #expect(try await get("/v1/audit/entries/400/proof", service).problem == "not-found")
            #expect(
                try service.entries("audit.read").map(\.["for"][0].text) == [
                    "index=0", "index=7", "index=255", "index=256", "index=299",
                ]
            )
        }
    }

    @Test func `gives no proof that does not lead to the checkpoint, and says that the log is damaged`() async throws {
        try await withLog { service, _, _ async throws in
            #expect(await service.publishCheckpoint() != nil)
            #expect(try await get("/v1/audit/entries/270/proof", service).status == 200)
            let connection = try service.settings.database.connect()
            try connection.run(SQL("UPDATE audit_entries SET entry = x'7B7D' WHERE entry_index = 270"))
            #expect(try await get("/v1/audit/entries/270/proof", service).problem == "log-unreadable")
            #expect(try await get("/v1/audit/entries/7/proof", service).problem == "log-unreadable")
            try connection.run(SQL("UPDATE audit_entries SET entry = x'7B7D' WHERE entry_index = 7"))
            #expect(try await get("/v1/audit/entries/7", service).problem == "log-unreadable")
            #expect(try await get("/audit/tile/entries/000", service).problem == "log-unreadable")
        }
    }

    @Test func `gives no proof under a checkpoint of more entries than the log has`() async throws {
        try await withLog { service, _, _ async throws in
            #expect(await service.publishCheckpoint() != nil)
            #expect(try await get("/v1/audit/entries/8/proof", service).status == 200)
            try service.settings.database.connect().run(SQL("UPDATE log_head SET size = 299"))
            #expect(try await get("/v1/audit/entries/8/proof", service).problem == "log-unreadable")
        }
    }

    @Test func `reads while the committer waits for the disk`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            try await service.committer.append([.serviceStopped])
            faults.hold()
            async let signed = service.sign(offer: "open")
            #expect(try await eventually { faults.isCommitting })
            #expect(try await get("/audit/tile/entries/000.p/1", service).status == 200)
            #expect(try await get("/audit/tile/entries/000.p/2", service).status == 404, "it is not durable")
            faults.release()
            #expect(try await signed.status == 200)
            #expect(try await get("/audit/tile/entries/000.p/2", service).status == 200)
        }
    }
}
