// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// The response body for a ``SignatureBatch``: for each request, in order, the answer that it would get alone.
struct SignatureBatchAnswer: Sendable {
    let bytes: [UInt8]
    /// The names of problems that have no other entry in the audit log.
    let unrecorded: [String]
    /// How many of the answers have each status.
    let statuses: [Int: Int]

    init(_ batch: SignatureBatch, _ results: [Result<SignedOffer, Refusal>], showsFindings: Bool) {
        var writer = JSONWriter(reserving: 1536 * results.count)
        var unrecorded: [String] = []
        var statuses: [Int: Int] = [:]
        writer.beginObject()
        writer.name("results")
        writer.beginArray()
        for (item, result) in zip(batch.items, results) {
            writer.beginObject()
            switch result {
            case .success(let signed):
                writer.name("status")
                writer.integer(200)
                writer.name("grant")
                signed.write(showsFindings: showsFindings, to: &writer)
                statuses[200, default: 0] += 1
            case .failure(let refusal):
                let problem = Problem(refusal)
                if refusal.isOnlyCounted { unrecorded.append(problem.name) }
                Self.write(problem, of: item, to: &writer)
                statuses[problem.status, default: 0] += 1
            }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        bytes = writer.bytes
        self.unrecorded = unrecorded
        self.statuses = statuses
    }

    private static func write(_ problem: Problem, of item: SignatureBatch.Item, to writer: inout JSONWriter) {
        writer.name("status")
        writer.integer(Int64(problem.status))
        // Where a single answer has a header field.
        if let seconds = problem.headers.first(where: { $0.name == "Retry-After" }).flatMap({ Int64($0.value) }) {
            writer.name("retryAfter")
            writer.integer(seconds)
        }
        writer.name("problem")
        problem.write(requestID: item.id, to: &writer)
    }
}
