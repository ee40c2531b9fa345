// SPDX-License-Identifier: Apache-2.0
import OfferService

extension TestService {
    /// A request for many signatures, with `bodies` that could each be the body of a single request.
    func batch(as caller: String = "backend", _ bodies: [String]) -> Call {
        batch(as: caller, body: #"{"requests": [\#(bodies.joined(separator: ", "))]}"#)
    }

    /// A batch request with exactly `body`.
    func batch(as caller: String = "backend", body: String) -> Call {
        var call = call(as: caller, body)
        call.path = "/v1/app-store/promotional-offers/signatures/batch"
        return call
    }
}

extension Reply {
    /// What each request of a batch was answered, in order.
    var results: [Tree] { json["results"].elements }

    /// The status of each.
    var statuses: [Int64?] { results.map(\.["status"].integer) }

    /// The last part of each one's problem; nil where there is a grant.
    var problems: [String?] {
        results.map { $0["problem"]["type"].text.map { String($0.dropFirst("/problems/".count)) } }
    }
}

/// A request for an offer, by the customer of that name.
func customerBody(_ offer: String, _ customer: String) -> String {
    offerBody(offer, #""customerId": "\#(customer)""#)
}
