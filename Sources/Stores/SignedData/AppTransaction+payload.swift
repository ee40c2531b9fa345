// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

extension AppTransaction {
    /// Reads a verified payload whose claims `check` accepts.
    init(payload: [UInt8], _ check: ClaimCheck) throws(SignedDataFault) {
        let reader = try PayloadReader(payload)
        try reader.require(.appTransaction)
        let app = try check.app(reader)
        let environment = try check.environment(reader, "receiptType", of: app)
        self.init(
            appAppleID: try check.appAppleID(reader, of: app, environment),
            appTransactionID: try reader.identifierIfKnown("appTransactionId"),
            claims: SignedDataClaims(
                bundleID: app.bundleID,
                environment: environment,
                signedAt: try check.signedAt(reader, "receiptCreationDate")
            ),
            originallyPurchasedAt: try reader.instant("originalPurchaseDate")
        )
    }
}

extension RealtimeRequest {
    /// Reads a verified payload; only the app's number identifies the app, and in the sandbox nothing does.
    init(payload: [UInt8], _ check: ClaimCheck) throws(SignedDataFault) {
        let reader = try PayloadReader(payload)
        try reader.require(.realtimeRequest)
        let environment = try check.environment(reader, takenBy: check.apps)
        let appAppleID = try reader.integer("appAppleId")
        if environment == .production {
            let found = try reader.required("appAppleId", appAppleID)
            guard check.apps.contains(where: { $0.appAppleID != nil }) else { throw .appAppleIDNotSet }
            guard check.apps.contains(where: { $0.appAppleID == found && $0.environments.contains(environment) }) else {
                throw .otherAppAppleID(pointer: reader.place(of: "appAppleId"))
            }
        }
        self.init(
            originalTransactionID: try reader.required(
                "originalTransactionId",
                reader.identifier("originalTransactionId")
            ),
            productID: try reader.required("productId", reader.text("productId")),
            userLocale: try reader.required("userLocale", reader.text("userLocale")),
            requestIdentifier: try reader.required("requestIdentifier", reader.uuid("requestIdentifier")),
            environment: environment
        )
        self.appAppleID = appAppleID
        // The instant is checked and not kept: a request from another time is refused.
        _ = try check.signedAt(reader)
    }
}
