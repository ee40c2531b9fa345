// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// What a request states of its customer, and only a `backend` may: `facts` and `attributes`.
///
/// A tuple, each part of which goes to where it is kept; a struct would be copied and thrown away.
typealias ToldMembers = (
    facts: SharedFacts,
    /// `nil` if the request states none.
    attributes: Attributes?,
    /// The members that only a `backend` may send and that the request has, as pointers.
    assertions: [String]
)

extension ObjectReader {
    /// Reads `facts` and `attributes`; `customerID`, which stands beside them, is an assertion too.
    mutating func toldMembers(
        beside customerID: CustomerID?,
        into mismatches: Mismatches,
        receivedAt now: Timestamp
    ) -> ToldMembers {
        var assertions = customerID == nil ? [] : ["/customerId"]
        let facts: SharedFacts
        if let value = member("facts") {
            assertions.append("/facts")
            facts = SharedFacts(CustomerFactsReader.read(value, observedAt: now, into: mismatches))
        } else {
            facts = .nothing
        }
        var attributes: Attributes?
        if let value = member("attributes") {
            assertions.append("/attributes")
            attributes = AttributesReader.read(value, into: mismatches)
        }
        return (facts, attributes, assertions)
    }
}
