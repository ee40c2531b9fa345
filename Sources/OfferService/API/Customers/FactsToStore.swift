// SPDX-License-Identifier: Apache-2.0
import JSON
import Ledger
import OfferDomain

/// Reads the facts that a backend sends to be stored of a customer.
enum FactsToStore {
    /// The facts, or `nil` with mismatches: also for what no rule reads, and for what is of one request alone.
    static func read(
        _ value: JSONValue,
        for needs: FactNeeds,
        at now: Timestamp,
        _ mismatches: Mismatches
    ) -> StoredFacts? {
        let before = mismatches.count
        _ = CustomerFactsReader.read(value, observedAt: now, into: mismatches)
        guard mismatches.count == before, let object = value.object else { return nil }
        let read = StoredFacts.names(for: needs)
        for member in object where !member.value.isNull {
            if let fault = fault(of: member.name, read) { mismatches.add(member.value, fault) }
        }
        return mismatches.count == before ? StoredFacts(object) : nil
    }

    private static func fault(of name: String, _ read: [String]) -> String? {
        if StoredFacts.isOfOneRequest(name) { return "is of one request; state it there" }
        if read.contains(name) || StoredFacts.qualifies(name) && !read.isEmpty { return nil }
        let known = read.isEmpty ? "no rule of this app reads a fact" : "read: \(read.joined(separator: ", "))"
        return "is read by no rule of this app (\(known))"
    }
}
