// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// Where a request for a decision comes from, and by which catalog it is decided.
package struct DecisionOrigin: Sendable {
    /// UUIDv7; a grant has it too.
    package let requestID: UniqueID
    /// When the request arrived, by this instance's clock; rules count time up to here.
    package let receivedAt: Timestamp
    /// Who asked.
    package let caller: Caller
    /// The catalog of the snapshot that the request came under.
    package let catalog: Catalog
    /// The key under which a retry gets the same answer, for a decision bound to the offer; `nil` without one.
    package var idempotency: IdempotencyClaim?
    /// What the requesting app has proven about itself, if that counts for the offer.
    package var genuineApp: GenuineApp?
    /// Whether the answer can still be sent; `nil` for a caller that waits without limit.
    package var isAwaited: (@Sendable () -> Bool)?

    package init(requestID: UniqueID, receivedAt: Timestamp, caller: Caller, catalog: Catalog) {
        self.requestID = requestID
        self.receivedAt = receivedAt
        self.caller = caller
        self.catalog = catalog
    }
}
