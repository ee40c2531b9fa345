// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

extension AuditEntry {
    static func details(
        of message: GooglePlayMessage,
        _ app: GooglePlayApp
    ) -> [Member] {
        [
            ("bundle", .text(app.name.text)), ("notification", .text(message.id)),
            ("package", .text(app.packageName.text)),
            ("store", .text("google-play")), ("ts", .integer(message.sentAt.milliseconds)),
            ("type", .text(message.type)),
        ] + (message.environment.map { [("env", .text($0.rawValue))] } ?? [])
    }

    /// The purchase is told by the key that stands for its token.
    static func details(
        of entry: GooglePlayRedemptionTable.Entry,
        _ app: GooglePlayApp,
        _ namesGrant: Bool
    ) -> [Member] {
        let redemption = entry.redemption
        var details: [Member] = [
            ("bundle", .text(app.name.text)), ("chain", .text(text(ofKey: redemption.purchase.bytes))),
            ("env", .text(redemption.environment.rawValue)), ("match", .text(entry.reconciliation.rawValue)),
            ("offer", .text(redemption.offer.offerID)),
            ("package", .text(app.packageName.text)), ("plan", .text(redemption.offer.basePlanID)),
            ("product", .text(redemption.offer.productID)), ("src", .text(FactSource.storeAPI.rawValue)),
            ("state", .text(redemption.state.name)), ("store", .text("google-play")),
            ("ts", .integer(redemption.redeemedAt.milliseconds)),
        ]
        if let match = entry.match {
            details.append(("by", .text(match.way.rawValue)))
            if namesGrant { details.append(("grant", .text(match.grantID.description))) }
        }
        if let settledAt = redemption.state.settledAt { details.append(("settled", .integer(settledAt.milliseconds))) }
        return details + members(of: redemption.refund, after: entry.earlier, isCorrection: entry.isCorrection)
    }
}
