// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The account that a customer's purchases are to name, from the current period on.
public struct AppAccountTokenRequest: Encodable, Hashable, Sendable {
    public var bundleId: String
    /// Of the subscription; no renewal's, and not of Family Sharing.
    public var originalTransactionId: String
    public var appAccountToken: String
    public var customerId: String

    public init(bundleID: String, originalTransactionID: String, appAccountToken: UUID, customerID: String) {
        bundleId = bundleID
        originalTransactionId = originalTransactionID
        self.appAccountToken = appAccountToken.uuidString.lowercased()
        customerId = customerID
    }
}

/// What came of an ``AppAccountTokenRequest``.
public struct AppAccountTokenResult: Decodable, Hashable, Sendable {
    public let setAt: Date
    /// `production` or `sandbox`.
    public let environment: String
    /// Whether an earlier request with the same idempotency key made the change.
    public let isRepeated: Bool
}
