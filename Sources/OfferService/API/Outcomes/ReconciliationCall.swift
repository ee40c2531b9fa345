// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import Ledger
import OfferDomain

/// `GET /v1/audit/reconciliation`: the stores' reports, compared with the records.
struct ReconciliationCall: Sendable {
    let reconciler: Reconciler
    let reads: ReadRecorder

    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading()
        let query = try ReconciliationRequest.query(request.query, at: now)
        let report: ReconciliationReport
        do { report = try await reconciler.report(query) } catch { throw .service(ServiceFault(error)) }
        await reads.note(
            caller: caller.id,
            call: .reconciliation,
            conditions: query.conditions,
            count: report.entries
        )
        return .json(ReconciliationAnswer(report).json)
    }
}
