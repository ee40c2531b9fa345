// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

extension AppStoreTransaction {
    /// Reads a verified payload whose claims `check` accepts.
    init(payload: [UInt8], _ check: ClaimCheck) throws(SignedDataFault) {
        let reader = try PayloadReader(payload)
        try reader.require(.transaction)
        let app = try check.app(reader)
        self.init(
            transactionID: try reader.required("transactionId", reader.identifier("transactionId")),
            originalTransactionID: try reader.required(
                "originalTransactionId",
                reader.identifier("originalTransactionId")
            ),
            productID: try reader.required("productId", reader.text("productId")),
            claims: SignedDataClaims(
                bundleID: app.bundleID,
                environment: try check.environment(reader, of: app),
                signedAt: try check.signedAt(reader)
            ),
            purchasedAt: try reader.required("purchaseDate", reader.instant("purchaseDate"))
        )
        try readPurchase(reader)
        try readOffer(reader)
        try readPlan(reader)
    }

    private mutating func readPurchase(_ reader: PayloadReader) throws(SignedDataFault) {
        productType = try reader.code("type")
        subscriptionGroup = try reader.identifierIfKnown("subscriptionGroupIdentifier")
        originallyPurchasedAt = try reader.instant("originalPurchaseDate")
        expiresAt = try reader.instant("expiresDate")
        revokedAt = try reader.instant("revocationDate")
        revocationType = try reader.code("revocationType")
        revocationPercentage = try reader.integer("revocationPercentage").flatMap { Int(exactly: $0) }
        isUpgraded = try reader.boolean("isUpgraded") ?? false
        ownership = try reader.code("inAppOwnershipType")
        storefront = try reader.identifierIfKnown("storefront")
        reason = try reader.code("transactionReason")
        appAccountToken = try reader.uuid("appAccountToken")
        appTransactionID = try reader.identifierIfKnown("appTransactionId")
        previousOriginalTransactionID = try reader.identifierIfKnown("previousOriginalTransactionId")
        bundleOriginalTransactionID = try reader.identifierIfKnown("bundleOriginalTransactionId")
    }

    private mutating func readOffer(_ reader: PayloadReader) throws(SignedDataFault) {
        offerType = try reader.numberedCode("offerType")
        offerID = try reader.text("offerIdentifier")
        offerDiscountType = try reader.code("offerDiscountType")
    }

    private mutating func readPlan(_ reader: PayloadReader) throws(SignedDataFault) {
        billingPlan = try reader.code("billingPlanType")
        guard let commitment = try reader.object("commitmentInfo") else { return }
        commitmentEndsAt = try commitment.instant("commitmentExpiresDate")
        commitmentPeriod = try commitment.integer("billingPeriodNumber").flatMap { Int(exactly: $0) }
    }
}
