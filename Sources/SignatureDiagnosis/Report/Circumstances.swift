// SPDX-License-Identifier: Apache-2.0
import JSON

/// What lies outside the signature: time, what StoreKit said, and what came of the purchase.
struct Circumstances {
    private let report: SignatureReport
    private let knowledge: DiagnosisKnowledge

    init(_ report: SignatureReport, _ knowledge: DiagnosisKnowledge) {
        (self.report, self.knowledge) = (report, knowledge)
    }

    func judge(_ diagnosis: inout Diagnosis) {
        let isRight = diagnosis.verdict == .signedCorrectly
        judgeAge(&diagnosis, isRight: isRight)
        if isRight, report.received.isTimestampText { diagnosis.add(.timestampAttached, .possible) }
        judgePurchase(&diagnosis)
        judgeOffer(&diagnosis)
        judgeError(&diagnosis)
        if [.signedCorrectly, .notEligibleAtStore].contains(diagnosis.verdict) {
            diagnosis.cannotDecide("key-revoked", "key-of-other-team", "offer-deleted", "reused")
        }
    }

    private func judgeAge(_ diagnosis: inout Diagnosis, isRight: Bool) {
        guard let signedAt = signedAtMilliseconds else { return }
        func isOld(at time: Int64) -> Bool { time - signedAt > 24 * 3_600_000 }
        if let attempt = report.attemptedAtMilliseconds {
            guard isOld(at: attempt) else { return }
            // By the device's clock, which may be wrong.
            diagnosis.add(.expired, .likely)
            if isRight { diagnosis.verdict = .expired }
        } else if isRight, let now = knowledge.now, isOld(at: now) {
            diagnosis.add(.expired, .possible)
            diagnosis.cannotDecide("needs-attempt-time")
        }
    }

    /// When the original signature was made, or else the JWS: not what the app attached, which may be wrong.
    private var signedAtMilliseconds: Int64? {
        guard report.signature != nil else { return nil }
        return (report.received.timestamp ?? report.attached.timestamp).flatMap(Timestamps.milliseconds)
    }

    // MARK: - The purchase

    private func judgePurchase(_ diagnosis: inout Diagnosis) {
        guard let text = report.signedTransaction, let transaction = CompactJSON.claims(of: text) else { return }
        if ["Xcode", "LocalTesting"].contains(transaction["environment"]?.string) {
            diagnosis.add(.xcodeEnvironment)
            if [.signedCorrectly, .undecided].contains(diagnosis.verdict) { diagnosis.verdict = .unknownKey }
            return
        }
        if diagnosis.verdict == .signedCorrectly, transaction["inAppOwnershipType"]?.string == "FAMILY_SHARED" {
            diagnosis.add(.familyShared, .likely)
        }
        guard diagnosis.verdict == .signedCorrectly, isOfThisPurchase(transaction), !hasOffer(transaction) else {
            return
        }
        diagnosis.add(.offerNotApplied, .likely)
        diagnosis.verdict = .offerNotApplied
    }

    private var claims: JSONObject? { report.jws.flatMap(CompactJSON.claims) }

    /// Whether it is of the product, no renewal, and not from before the signature.
    private func isOfThisPurchase(_ transaction: JSONObject) -> Bool {
        if transaction["transactionReason"]?.string == "RENEWAL" { return false }
        if transaction["inAppOwnershipType"]?.string == "FAMILY_SHARED" { return false }
        let product = report.effective.productID ?? claims?["productId"]?.string
        guard transaction["productId"]?.string == product else { return false }
        let signedAt =
            signedAtMilliseconds ?? claims?["iat"]?.integer.flatMap { Timestamps.milliseconds(String($0)) }
        guard let signedAt, let purchasedAt = transaction["purchaseDate"]?.integer else { return true }
        // The clocks of server and store differ by a little.
        return purchasedAt >= signedAt - 60_000
    }

    /// Whether the purchase was made with the very offer.
    ///
    /// Source: Apple, [offerType](https://developer.apple.com/documentation/appstoreserverapi/offertype): 1 is an introductory
    /// offer, and 2 a promotional one.
    private func hasOffer(_ transaction: JSONObject) -> Bool {
        let type = transaction["offerType"]?.integer
        if report.signature == nil, let claims, claims["aud"]?.string != "promotional-offer" {
            return type == 1 || claims["allowIntroductoryOffer"]?.bool != true
        }
        let offer = report.effective.offerID ?? claims?["offerIdentifier"]?.string
        return type == 2 && (offer == nil || transaction["offerIdentifier"]?.string == offer)
    }

    // MARK: - The offer

    /// A signature may be right, and the offer one of another product, or named by its reference name.
    private func judgeOffer(_ diagnosis: inout Diagnosis) {
        let fields = report.effective
        guard diagnosis.verdict == .signedCorrectly, report.signature != nil, !knowledge.offersByProduct.isEmpty,
            let bundleID = fields.bundleID,
            knowledge.bundleIDs.contains(bundleID), let product = fields.productID, let offer = fields.offerID,
            knowledge.offersByProduct[product]?.contains(offer) != true
        else { return }
        diagnosis.add(.offerUnknown, .likely)
    }

    // MARK: - The error

    private func judgeError(_ diagnosis: inout Diagnosis) {
        switch report.error?.storeKitCode {
        case 18 where diagnosis.verdict == .signedCorrectly:
            diagnosis.add(.notEligible, .likely)
            diagnosis.verdict = .notEligibleAtStore
        case 18 where diagnosis.verdict == .undecided: diagnosis.add(.notEligible, .likely)
        case 11: diagnosis.add(.offerUnknown, .likely)
        case 14: diagnosis.add(.offerPrice, .likely)
        case 13: diagnosis.add(.missingParameters, .likely)
        case 5: diagnosis.add(.productUnavailable, .likely)
        case 3: diagnosis.add(.productUnavailable, .possible)
        case 2: diagnosis.add(.cancelled, .possible)
        default: break
        }
    }
}
