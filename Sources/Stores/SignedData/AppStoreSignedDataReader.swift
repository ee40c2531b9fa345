// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
package import OfferDomain

/// Distinguishes genuine signed data from all other data.
package protocol SignedDataAuthenticator: Sendable {
    /// The payload of a JWS that is genuine at an instant in seconds since 1970, and no longer than `maximumBytes`.
    func payload(of jws: [UInt8], at unixSeconds: Int64, maximumBytes: Int) throws(SignedDataError) -> [UInt8]

    /// Whether the check is cheap, because the certificates in the JWS were found good before.
    func remembersChain(of jws: [UInt8], maximumBytes: Int) -> Bool
}

extension SignedDataVerifier: SignedDataAuthenticator {
    package func payload(
        of jws: [UInt8],
        at unixSeconds: Int64,
        maximumBytes: Int
    ) throws(SignedDataError) -> [UInt8] {
        try verify(jws, at: unixSeconds, maximumBytes: maximumBytes).payload
    }
}

/// Turns what the App Store signed into values, and checks its signature, app, environment and time.
package struct AppStoreSignedDataReader: Sendable {
    /// A notification holds a transaction and a renewal info, each of up to 16 KiB, in base64url once more.
    package static let maximumNotificationBytes = 65_536
    private static let maximumBytes = SignedDataVerifier.defaultMaximumBytes

    /// The apps with data that is accepted: for a request one app, for notifications all apps.
    package let apps: [AppStoreApp]
    private let authenticator: any SignedDataAuthenticator

    /// A reader that takes only what the authenticator finds genuine and one of the apps has.
    package init(apps: [AppStoreApp], authenticator: any SignedDataAuthenticator) {
        self.apps = apps
        self.authenticator = authenticator
    }

    /// The same reader, for one of the apps alone.
    package func restricted(to bundleID: BundleID) -> AppStoreSignedDataReader {
        AppStoreSignedDataReader(apps: apps.filter { $0.bundleID == bundleID }, authenticator: authenticator)
    }

    /// Reads a signed transaction.
    package func transaction(_ jws: [UInt8], at now: Timestamp) throws(SignedDataFault) -> AppStoreTransaction {
        try AppStoreTransaction(payload: payload(of: jws, as: .transaction, at: now), check(now))
    }

    /// Reads a signed renewal info that goes with one of `transactions`, which this reader has read.
    package func renewalInfo(
        _ jws: [UInt8],
        pairedWith transactions: [AppStoreTransaction],
        _ pairing: RenewalPairing,
        at now: Timestamp
    ) throws(SignedDataFault) -> AppStoreRenewalInfo {
        try AppStoreRenewalInfo(
            payload: payload(of: jws, as: .renewalInfo, at: now),
            pairedWith: transactions,
            pairing,
            check(now)
        )
    }

    /// Reads the app transaction: which version of the app the customer first had, and when.
    package func appTransaction(_ jws: [UInt8], at now: Timestamp) throws(SignedDataFault) -> AppTransaction {
        try AppTransaction(payload: payload(of: jws, as: .appTransaction, at: now), check(now))
    }

    /// Reads a notification, and leaves the JWS inside it as they are; ``evidence(of:at:)`` reads those.
    package func notification(_ jws: [UInt8], at now: Timestamp) throws(SignedDataFault) -> AppStoreNotification {
        let most = Self.maximumNotificationBytes
        let payload = try payload(of: jws, as: .notification, at: now, maximumBytes: most)
        return try AppStoreNotification(payload: payload, check(now))
    }

    /// Reads a real-time request of Apple's Retention Messaging about one customer; one signed before
    /// `notSignedBefore` is too old.
    package func realtimeRequest(
        _ jws: [UInt8],
        at now: Timestamp,
        notSignedBefore: Timestamp? = nil
    ) throws(SignedDataFault) -> RealtimeRequest {
        try RealtimeRequest(
            payload: payload(of: jws, as: .realtimeRequest, at: now),
            check(now, notSignedBefore: notSignedBefore)
        )
    }

    private func check(_ now: Timestamp, notSignedBefore: Timestamp? = nil) -> ClaimCheck {
        ClaimCheck(apps: apps, now: now, notSignedBefore: notSignedBefore)
    }

    private func payload(
        of jws: [UInt8],
        as kind: SignedDataKind,
        at now: Timestamp,
        maximumBytes: Int = maximumBytes
    ) throws(SignedDataFault) -> [UInt8] {
        let text = SignedDataText(jws)
        do {
            return try authenticator.payload(of: text.bytes, at: now.seconds, maximumBytes: maximumBytes)
        } catch {
            throw text.fault(error, expected: kind) ?? .notVerified(error)
        }
    }
}
