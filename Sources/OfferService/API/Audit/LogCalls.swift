// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import JSON
package import Ledger
import OfferDomain
package import TransparencyLog

/// The log itself: `GET /audit/tile/…`, `GET /v1/audit/entries/{index}` and `GET /v1/audit/entries/{index}/proof`.
package struct LogCalls: Sendable {
    private let readers: LogReaders
    private let reads: ReadRecorder
    private let latestCheckpoint: LatestCheckpoint
    /// Whether tiles need no authentication.
    private let isPublic: Bool

    package init(
        readers: LogReaders,
        reads: ReadRecorder,
        isPublic: Bool,
        latestCheckpoint: @escaping LatestCheckpoint
    ) {
        self.readers = readers
        self.reads = reads
        self.isPublic = isPublic
        self.latestCheckpoint = latestCheckpoint
    }

    /// A tile or a bundle of entries, as tlog-tiles has them; what a path leads to never changes.
    func tile(
        _ request: Request,
        path: ArraySlice<UInt8>?,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = isPublic ? nil : try snapshot.callers.authenticate(request, at: now).requireReading().id
        guard let path = path.flatMap({ TilePath($0) }) else { throw .request(.notInLog) }
        let bytes = try await read { reader throws(AuditReadError) in
            switch path {
            case .tile(let tile): try reader.tile(tile)
            case .entries(let index, let width): try reader.entryBundle(index, width: width)
            }
        }
        guard let bytes else { throw .request(.notInLog) }
        reads.noteFetch(caller: caller, call: path.call)
        let whose = isPublic ? "public" : "private"
        return Response(
            status: 200,
            headers: [
                ("Content-Type", "application/octet-stream"),
                ("Cache-Control", "\(whose), max-age=31536000, immutable"),
            ],
            body: bytes
        )
    }

    /// One entry, as its exact bytes and as the object that they are.
    func entry(
        _ request: Request,
        index: ArraySlice<UInt8>?,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading().id
        guard let index = index.flatMap(Int64.init(decimal:)) else { throw .request(.notInLog) }
        let entry = try await read { reader throws(AuditReadError) in try reader.entry(index) }
        guard let entry else { throw .request(.notInLog) }
        await note(.entry, of: index, by: caller)
        let bytes = String(decoding: Base64.encode(entry), as: UTF8.self)
        return .json(["index": .integer(index), "bytes": .text(bytes), "entry": .written(entry)])
    }

    /// The proof of one entry under the newest checkpoint, for files: it holds the checkpoint too.
    func proof(
        _ request: Request,
        index: ArraySlice<UInt8>?,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading().id
        guard let index = index.flatMap(Int64.init(decimal:)) else { throw .request(.notInLog) }
        let checkpoint = latestCheckpoint()
        let found = try await read { reader throws(AuditReadError) -> Proof in
            guard index < (try reader.head().size) else { return .noEntry }
            guard let checkpoint, index < checkpoint.head.size else { return .notYet }
            return .text(try reader.proof(of: index, under: checkpoint))
        }
        switch found {
        case .noEntry: throw .request(.notInLog)
        case .notYet: throw .request(.notYetCovered)
        case .text(let text):
            await note(.entryProof, of: index, by: caller)
            return Response(
                status: 200,
                headers: [
                    ("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store"),
                    ("X-Content-Type-Options", "nosniff"),
                ],
                body: text
            )
        }
    }

    /// Records what is about to be given away.
    private func note(_ call: AuditCall, of index: Int64, by caller: CallerID) async {
        await reads.note(caller: caller, call: call, conditions: [AuditCondition("index", String(index))], count: 1)
    }

    private enum Proof: Sendable {
        case noEntry, notYet
        case text([UInt8])
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (LogReader) throws(AuditReadError) -> Value
    ) async throws(Refusal) -> Value {
        do throws(LogReadersError) {
            return try await readers.read { connection throws(AuditReadError) in
                try body(LogReader(connection: connection))
            }
        } catch {
            throw Refusal(error)
        }
    }
}

extension TilePath {
    /// As what its fetching is counted.
    fileprivate var call: AuditCall {
        switch self {
        case .tile: .tile
        case .entries: .entryBundle
        }
    }
}
