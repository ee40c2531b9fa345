// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import JSON
import OfferDomain

/// What is signed of the log: `GET /audit/checkpoint` and `GET /v1/audit/log`.
package struct CheckpointCalls: Sendable {
    private let signedLog: SignedLog
    private let head: @Sendable () -> TreeHead
    private let reads: AuditReads
    /// Whether the checkpoint is for everybody.
    private let isPublic: Bool

    package init(
        _ signedLog: SignedLog,
        head: @escaping @Sendable () -> TreeHead,
        reads: AuditReads,
        isPublic: Bool
    ) {
        self.signedLog = signedLog
        self.head = head
        self.reads = reads
        self.isPublic = isPublic
    }

    func respond(
        to request: Request,
        _ route: Route,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        route == .logCheckpoint
            ? try checkpoint(request, under: snapshot, at: now)
            : try await log(request, under: snapshot, at: now)
    }

    /// The newest checkpoint as a signed note, with the witnesses' signatures that came for it so far.
    private func checkpoint(
        _ request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) throws(Refusal) -> Response {
        let caller = isPublic ? nil : try Self.requireReader(request, snapshot, now)
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
    private func log(
        _ request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try Self.requireReader(request, snapshot, now)
        await reads.note(caller: caller, call: .log, conditions: [])
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("origin")
        writer.string(signedLog.key.origin.text)
        writer.name("verifierKey")
        writer.string(signedLog.key.verifierKey.description)
        Self.write(head(), &writer)
        writeCheckpoint(&writer)
        writeWitnesses(&writer)
        writeVerification(&writer)
        writer.endObject()
        return .json(writer.bytes)
    }

    private func writeCheckpoint(_ writer: inout JSONWriter) {
        writer.name("checkpoint")
        guard let latest = signedLog.publisher.latest else { return writer.null() }
        writer.beginObject()
        Self.write(latest.checkpoint.head, &writer)
        writer.name("signedAt")
        writer.string(latest.signedAt.rfc3339)
        writer.endObject()
    }

    private static func write(_ head: TreeHead, _ writer: inout JSONWriter) {
        writer.name("size")
        writer.integer(head.size)
        writer.name("rootHash")
        writer.string(plain: Base64.encode(head.rootHash.bytes).span)
    }

    private func writeWitnesses(_ writer: inout JSONWriter) {
        writer.name("witnesses")
        writer.beginArray()
        for report in signedLog.witnesses?.reports ?? [] {
            writer.beginObject()
            writer.name("name")
            writer.string(report.name)
            writer.name("size")
            writer.integer(report.size)
            writer.name("cosignedAt")
            if let seconds = report.cosignedSeconds {
                writer.string(Timestamp(milliseconds: 0).adding(seconds: Int(seconds)).rfc3339)
            } else {
                writer.null()
            }
            writer.name("state")
            writer.string(report.state.rawValue)
            writer.name("detail")
            writer.string(report.detail)
            writer.endObject()
        }
        writer.endArray()
        writer.name("quorum")
        writer.beginObject()
        writer.name("isMet")
        writer.boolean(signedLog.witnesses?.isQuorumMet ?? true)
        writer.endObject()
    }

    private func writeVerification(_ writer: inout JSONWriter) {
        writer.name("verification")
        guard let latest = signedLog.watch.latest else { return writer.null() }
        writer.beginObject()
        writer.name("at")
        writer.string(latest.at.rfc3339)
        writer.name("size")
        writer.integer(latest.size)
        writer.name("outcome")
        writer.string(latest.damage == nil ? "intact" : "damaged")
        writer.name("detail")
        writer.string(latest.damage?.description ?? "Every entry, tile and checkpoint is as it was written.")
        writer.endObject()
    }

    private static func requireReader(
        _ request: Request,
        _ snapshot: Snapshot,
        _ now: Timestamp
    ) throws(Refusal) -> CallerID {
        try snapshot.callers.authenticate(request, at: now).requireReading().id
    }
}
