// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// `GET /v1/seal`, `POST /v1/seal`, `POST /v1/unseal`: stop all signatures, and allow them again.
struct SealCall: Sendable {
    let seal: Seal
    let reads: ReadRecorder

    /// Whether the service is sealed, and why.
    func show(to request: Request, under snapshot: Snapshot, at now: Timestamp) throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading()
        reads.noteFetch(caller: caller.id, call: .seal)
        return response()
    }

    /// Answers when the entry is durable: from then on this instance signs nothing until the seal is lifted, and neither do
    /// the others, unless the answer says `isObeyed: false`.
    func seal(_ request: Request, under snapshot: Snapshot, at now: Timestamp) async throws(Refusal) -> Response {
        let (caller, reason) = try Self.read(request, under: snapshot, at: now)
        do {
            try await seal.seal(.administrator, detail: reason.text, by: .caller(caller.id))
        } catch {
            throw .service(.stopNotRecorded)
        }
        return response()
    }

    /// Answers when keys are used again.
    func unseal(_ request: Request, under snapshot: Snapshot, at now: Timestamp) async throws(Refusal) -> Response {
        let (caller, reason) = try Self.read(request, under: snapshot, at: now)
        do throws(UnsealRefusal) {
            try await seal.unseal(reason, by: .caller(caller.id))
        } catch {
            switch error {
            case .holds(let obstacles): throw .service(.stillSealed(obstacles))
            case .ledger(let error): throw .service(ServiceFault(error))
            }
        }
        return response()
    }

    private static func read(
        _ request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) throws(Refusal) -> (Caller, SealReason) {
        let caller = try snapshot.callers.authenticate(request, at: now).requireActing()
        try request.requireJSON()
        let document: JSONDocument
        do { document = try JSONDocument(request.body) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let reason = reader.required("reason", text: { bytes throws(SealReasonError) in try SealReason(bytes) })
        reader.finish()
        guard let reason, mismatches.all.isEmpty else { throw .invalid(mismatches) }
        return (caller, reason)
    }

    private func response() -> Response {
        let causes = seal.causes
        return .json([
            "isSealed": .boolean(!causes.isEmpty),
            "isObeyed": .boolean(seal.isAcknowledged),
            "causes": .array(
                causes.map { cause in
                    [
                        "cause": .text(cause.cause.rawValue), "since": .instant(cause.since),
                        "detail": .text(cause.detail),
                    ]
                }
            ),
        ])
    }
}

extension Caller {
    /// Refuses a caller that may not read the records.
    func requireReading() throws(Refusal) -> Caller {
        guard role.mayReadRecords else { throw .caller(.roleNotAllowed(role)) }
        return self
    }

    /// Refuses a caller that may not act on keys and seals.
    func requireActing() throws(Refusal) -> Caller {
        guard role.mayAct else { throw .caller(.roleNotAllowed(role)) }
        return self
    }
}
