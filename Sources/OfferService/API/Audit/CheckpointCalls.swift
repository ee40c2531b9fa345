// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import JSON
package import Ledger
import OfferDomain
import ServiceRuntime
package import TransparencyLog

/// What is signed of the log: `GET /audit/checkpoint` and `GET /v1/audit/log`.
package struct CheckpointCalls: Sendable {
    private let signedLog: SignedLog
    private let head: @Sendable () -> TreeHead
    private let reads: ReadRecorder
    /// Whether the checkpoint needs no authentication.
    private let isPublic: Bool

    package init(
        _ signedLog: SignedLog,
        head: @escaping @Sendable () -> TreeHead,
        reads: ReadRecorder,
        isPublic: Bool
    ) {
        self.signedLog = signedLog
        self.head = head
        self.reads = reads
        self.isPublic = isPublic
    }

    /// The newest checkpoint as a signed note, with the witnesses' signatures that came for it so far.
    func checkpoint(
        _ request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) throws(Refusal) -> Response {
        let caller = isPublic ? nil : try snapshot.callers.authenticate(request, at: now).requireReading().id
        guard let latest = signedLog.publisher.latest else { throw .request(.notYetCovered) }
        reads.noteFetch(caller: caller, call: .checkpoint)
        return Response(
            status: 200,
            headers: [
                ("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-cache"),
                ("X-Content-Type-Options", "nosniff"),
            ],
            body: latest.note.bytes
        )
    }

    /// How the log is: its head, its checkpoint, its witnesses, and what the last verification found.
    func log(
        _ request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading().id
        await reads.note(caller: caller, call: .log, conditions: [])
        let key = signedLog.key
        var members: [(name: String, value: JSONTree)] = [
            ("origin", .text(key.origin.text)), ("verifierKey", .text(key.verifierKey.description)),
        ]
        members += Self.members(of: head())
        members.append(("checkpoint", checkpoint ?? .null))
        members.append(("witnesses", .array((signedLog.witnesses?.reports ?? []).map(Self.witness))))
        members.append(("quorum", ["isMet": .boolean(signedLog.witnesses?.isQuorumMet ?? true)]))
        members.append(("verification", verification ?? .null))
        return .json(.object(members))
    }

    private var checkpoint: JSONTree? {
        signedLog.publisher.latest.map { latest in
            .object(Self.members(of: latest.checkpoint.head) + [("signedAt", .instant(latest.signedAt))])
        }
    }

    private static func members(of head: TreeHead) -> [(name: String, value: JSONTree)] {
        let rootHash = String(decoding: Base64.encode(head.rootHash.bytes), as: UTF8.self)
        return [("size", .integer(head.size)), ("rootHash", .text(rootHash))]
    }

    private static func witness(_ report: Witnesses.Report) -> JSONTree {
        let cosignedAt = report.cosignedSeconds.map { Timestamp(milliseconds: 0).adding(seconds: Int($0)) }
        return [
            "name": .text(report.name),
            "size": .integer(report.size),
            "cosignedAt": cosignedAt.map { .instant($0) } ?? .null,
            "state": .text(report.state.rawValue),
            "detail": .text(report.detail),
        ]
    }

    private var verification: JSONTree? {
        signedLog.watch.latest.map { latest in
            [
                "at": .instant(latest.at),
                "size": .integer(latest.size),
                "outcome": .text(latest.damage == nil ? "intact" : "damaged"),
                "detail": .text(latest.damage?.description ?? "Every entry, tile and checkpoint is as it was written."),
            ]
        }
    }
}
