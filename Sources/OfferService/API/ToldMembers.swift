// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// What a request states of its customer, and only a `backend` may: `facts` and `attributes`.
struct ToldMembers {
    let facts: CustomerFacts
    /// `nil` if the request states none.
    let attributes: Attributes?
    /// Those that the request has, as pointers.
    let assertions: [String]

    init(_ reader: inout ObjectReader, _ mismatches: Mismatches, receivedAt now: Timestamp) {
        var assertions: [String] = []
        if let value = reader.member("facts") {
            assertions.append("/facts")
            facts = CustomerFactsReader.read(value, observedAt: now, into: mismatches)
        } else {
            facts = CustomerFacts()
        }
        if let value = reader.member("attributes") {
            assertions.append("/attributes")
            attributes = AttributesReader.read(value, into: mismatches)
        } else {
            attributes = nil
        }
        self.assertions = assertions
    }
}
