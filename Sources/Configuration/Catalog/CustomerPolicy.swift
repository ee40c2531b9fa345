// SPDX-License-Identifier: Apache-2.0
import JSON
package import OfferDomain

/// How the customers of one app may be called, and linked.
package struct CustomerPolicy: Hashable, Sendable {
    /// The forms of `customerId` that are taken; any, if none is named.
    package var idForms: [CustomerIDForm] = []
    /// To how many customers one anonymous id may be linked: people who share a device.
    package var mostCustomersPerAnonymousID = 5

    /// How many links one customer may have.
    package static let mostLinks = 100

    /// IDs of any form, and 5 links.
    package init() {}

    /// Why a customer id is refused; `nil` if it is not.
    package func fault(of customerID: CustomerID) -> String? {
        if idForms.isEmpty || idForms.contains(where: { $0.admits(customerID) }) { return nil }
        let forms = idForms.map(\.description).joined(separator: ", or ")
        return "expected \(forms), as this app's customers.idForms in the offers file says"
    }
}

extension CustomerPolicy {
    /// Reads an app's member `customers`; what it leaves out is as it is without it.
    init(_ app: inout ObjectReader, _ mismatches: Mismatches) {
        guard let value = app.member("customers") else { return }
        var reader = ObjectReader(value, into: mismatches)
        if reader.member("idForms") != nil {
            idForms = reader.elements("idForms") { element in
                element.string.flatMap(CustomerIDForm.init)
                    ?? mismatches.none(element, "expected “uuid”, “sha256” or “ulid”, found \(element.summary)")
            }
        }
        let most = reader.optional("mostCustomersPerAnonymousId", "a whole number from 1 to \(Self.mostLinks)") {
            $0.integer.flatMap { (1...Int64(Self.mostLinks)).contains($0) ? Int($0) : nil }
        }
        if let most { mostCustomersPerAnonymousID = most }
        reader.finish()
    }
}
