// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

extension AppStoreNotification {
    /// Reads a verified payload with claims that `check` accepts; its content decides where the claims are.
    init(payload: [UInt8], _ check: ClaimCheck) throws(SignedDataFault) {
        let reader = try PayloadReader(payload)
        try reader.require(.notification)
        let (content, claims) = try Self.readContent(reader)
        let app = try check.app(claims)
        let environment = try Self.environment(of: content, claims: claims, app: app, check)
        self.init(
            notificationType: try reader.required("notificationType", reader.code("notificationType")),
            subtype: try reader.code("subtype"),
            notificationUUID: try reader.required("notificationUUID", reader.uuid("notificationUUID")),
            claims: SignedDataClaims(
                bundleID: app.bundleID,
                environment: environment,
                signedAt: try check.signedAt(reader)
            ),
            content: content
        )
        appAppleID = try check.appAppleID(claims, of: app, environment)
    }

    /// The content, and the object that contains its claims.
    private static func readContent(
        _ reader: PayloadReader
    ) throws(SignedDataFault) -> (Content, claims: PayloadReader) {
        if let data = try reader.object("data") { return (.subscription(try SubscriptionContent(data)), data) }
        if let summary = try reader.object("summary") { return (.summary(try SummaryContent(summary)), summary) }
        if let token = try reader.object("externalPurchaseToken") {
            return (.externalPurchaseToken(try ExternalPurchaseToken(token)), token)
        }
        if let app = try reader.object("appData") {
            return (.app(signedAppTransaction: try app.signedData("signedAppTransactionInfo")), app)
        }
        throw .noContent
    }

    /// A token names no environment, but its ID shows whether it is from the sandbox.
    private static func environment(
        of content: Content,
        claims: PayloadReader,
        app: AppStoreApp,
        _ check: ClaimCheck
    ) throws(SignedDataFault) -> StoreEnvironment {
        guard case .externalPurchaseToken(let token) = content else { return try check.environment(claims, of: app) }
        let environment: StoreEnvironment =
            token.externalPurchaseID.utf8.starts(with: "SANDBOX".utf8) ? .sandbox : .production
        guard app.environments.contains(environment) else {
            throw .environmentNotTaken(pointer: claims.place(of: "externalPurchaseId"))
        }
        return environment
    }
}

extension AppStoreNotification.SubscriptionContent {
    fileprivate init(_ reader: PayloadReader) throws(SignedDataFault) {
        self.init(
            status: try reader.numberedCode("status"),
            signedTransaction: try reader.signedData("signedTransactionInfo"),
            signedRenewalInfo: try reader.signedData("signedRenewalInfo"),
            consumptionRequestReason: try reader.text("consumptionRequestReason")
        )
    }
}

extension AppStoreNotification.SummaryContent {
    fileprivate init(_ reader: PayloadReader) throws(SignedDataFault) {
        self.init(
            requestIdentifier: try reader.required("requestIdentifier", reader.text("requestIdentifier")),
            productID: try reader.text("productId"),
            succeededCount: try reader.integer("succeededCount"),
            failedCount: try reader.integer("failedCount")
        )
    }
}

extension AppStoreNotification.ExternalPurchaseToken {
    fileprivate init(_ reader: PayloadReader) throws(SignedDataFault) {
        self.init(
            externalPurchaseID: try reader.required("externalPurchaseId", reader.text("externalPurchaseId")),
            createdAt: try reader.instant("tokenCreationDate")
        )
    }
}
