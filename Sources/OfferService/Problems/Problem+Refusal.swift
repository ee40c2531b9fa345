// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import Ledger
import OfferDomain

extension Problem {
    /// Tells a refusal to the caller; the one place where our failures become HTTP.
    package init(_ refusal: Refusal) {
        switch refusal {
        case .request(let fault): self.init(fault)
        case .caller(let fault): self.init(fault)
        case .decision(let decision): self.init(decision)
        case .service(let fault): self.init(fault)
        }
    }

    private init(_ refusal: DecisionRefusal) {
        switch refusal {
        case .unknownOffer(let missing, let near): self.init(unknownOffer: missing, near: near)
        case .offerNotUsable(let fault):
            self.init(
                "offer-not-usable",
                title: "The offer's setup in the store is wrong",
                status: 409,
                detail: "\(fault.code): \(fault.description) See docs/google-play.md."
            )
            mismatches = [Mismatch(pointer: "/offerId", offset: 0, message: fault.code)]
        case .notEligible(let outcome, let decision, let showsFindings):
            if outcome == .undecided {
                self.init(
                    "eligibility-undecided",
                    title: "Eligibility could not be decided",
                    status: 403,
                    detail: decision.lacksProof ? Self.proofWanted : Self.tooLittleKnown(showsFindings)
                )
            } else {
                self.init(
                    "not-eligible",
                    title: "The customer is not eligible for this offer",
                    status: 403,
                    detail: "The rules of this offer do not admit this customer now."
                )
            }
            self.decision = (decision, showsFindings)
        }
    }

    private init(unknownOffer missing: Catalog.Missing, near: String?) {
        let (pointer, what) =
            switch missing {
            case .app: ("/bundleId", "app with that bundleId")
            case .package: ("/packageName", "app with that packageName")
            case .product: ("/productId", "product with that productId in this app")
            case .basePlan: ("/basePlanId", "base plan with that basePlanId for this product")
            case .offer: ("/offerId", "offer with that offerId for this product")
            case .introductoryOffer: ("/productId", "introductory offer for this product")
            }
        self.init(
            "unknown-offer",
            title: "The catalog has no such offer",
            status: 404,
            detail: "The catalog has no \(what)."
        )
        let suggestion = near.map { "; did you mean “\($0)”?" } ?? ""
        mismatches = [Mismatch(pointer: pointer, offset: 0, message: "is not in the catalog\(suggestion)")]
    }

    private static func tooLittleKnown(_ showsFindings: Bool) -> String {
        "Too little is known of this customer; nothing is signed on a guess. "
            + (showsFindings
                ? "The undecided findings say what to send."
                : "Send signedTransactions, or purchaseTokens at Google Play; or let your backend ask.")
    }

    private static let proofWanted =
        "Nothing in the request shows who the customer is. Send signedTransactions, or purchaseTokens at Google Play, or a "
        + "transactionId with its appAccountToken; or let your backend ask."
}

extension Store {
    /// As its readers call it.
    var title: String {
        switch self {
        case .appStore: "the App Store"
        case .googlePlay: "Google Play"
        }
    }
}
