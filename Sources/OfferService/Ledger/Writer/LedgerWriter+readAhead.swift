// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage

// MARK: - Reading for many requests at once

extension LedgerWriter {
    /// Reads what the requests of one transaction are going to ask, where each question would be a round trip of its own.
    ///
    /// It changes nothing but how long that takes: what is not read here is read when it is asked for.
    func readAhead(for requests: [DecisionRequest]) throws(LedgerError) {
        guard requests.count > 1 else { return }
        var questions: Set<GrantTable.Question> = []
        for request in requests {
            let needs = request.offer.needs
            guard needs.customerGrants || needs.originalTransactionGrants else { continue }
            let offers = [request.offer.ledgerKey] + (needs.otherStore ? [request.offer.otherStoreKey] : [])
            for offer in offers.compactMap(\.self) {
                for subject in request.namedSubjects {
                    questions.insert(GrantTable.Question(subject: subject, offerKey: offer))
                }
            }
        }
        try database { () throws(StorageError) in try grants.readAhead(questions) }
        try readAhead(requests.compactMap { request in request.idempotency.map { ($0, request.receivedAt) } })
    }
}
