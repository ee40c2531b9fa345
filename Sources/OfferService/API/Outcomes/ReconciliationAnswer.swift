// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// The body of an answer of ``ReconciliationCall``; people are pseudonyms.
struct ReconciliationAnswer {
    private let report: ReconciliationReport

    init(_ report: ReconciliationReport) {
        self.report = report
    }

    var json: JSONTree {
        [
            "from": .instant(report.query.from),
            "until": .instant(report.query.until),
            "settledUntil": .instant(report.settledUntil),
            "environment": .text(report.query.environment.rawValue),
            "redeemed": .integer(report.uses[.granted] ?? 0),
            "redeemedEarlier": .integer(report.uses[.earlier] ?? 0),
            "counts": [
                "redeemedWithoutRecord": .integer(report.uses[.ungranted] ?? 0),
                "redeemedByAnotherAccount": .integer(report.uses[.otherAccount] ?? 0),
            ],
            "redeemedWithoutRecord": .array(report.withoutRecord.map(Self.use)),
            "redeemedByAnotherAccount": .array(report.byAnotherAccount.map(Self.use)),
            "neverRedeemed": [
                "count": .integer(report.settled.reduce(0) { $0 + $1.neverRedeemed }),
                "entries": .array(report.neverRedeemed.map(Self.unused)),
            ],
            "apps": .array(report.settled.map(Self.app)),
            "retention": .array(report.retention.map(Self.retention)),
            "next": report.next.map { .text($0.text) } ?? .null,
        ]
    }

    private static func use(_ use: ReconciliationReport.Use) -> JSONTree {
        [
            "store": .text(use.place.store),
            use.place.appMember: .text(use.place.app),
            "productId": .text(use.productID),
            "basePlanId": use.basePlanID.map { .text($0) },
            "offerId": .text(use.offerID),
            "state": .text(use.state),
            "redeemedAt": .instant(use.redeemedAt),
            "subscription": .text(AuditEntry.text(ofKey: use.subscription)),
            "index": .integer(use.entryIndex),
            "grantId": use.grantID.map { .text($0.description) },
            "grantIndex": use.grantID.map { _ in use.grantEntryIndex.map { .integer($0) } ?? .null },
            "grantedTo": use.grantID.map { _ in use.grantedTo.map { .text(AuditEntry.text(ofKey: $0)) } ?? .null },
        ]
    }

    private static func unused(_ grant: ReconciliationReport.Grant) -> JSONTree {
        [
            "store": .text(grant.place.store),
            grant.place.appMember: .text(grant.place.app),
            "productId": .text(grant.productID),
            "basePlanId": grant.basePlanID.map { .text($0) },
            "offerId": .text(grant.offerID),
            "rule": .text(grant.rule),
            "grantId": .text(grant.grantID.description),
            "grantedAt": .instant(grant.grantedAt),
            "grantedTo": grant.account.map { .text(AuditEntry.text(ofKey: $0)) } ?? .null,
            "index": .integer(grant.entryIndex),
        ]
    }

    private static func app(_ app: ReconciliationReport.Settled) -> JSONTree {
        [
            "store": .text(app.place.store),
            app.place.appMember: .text(app.place.app),
            "redeemed": .integer(app.redeemed),
            "neverRedeemed": .integer(app.neverRedeemed),
            "notTold": .integer(app.notReported),
            "lastToldAt": app.lastReportAt.map { .instant($0) } ?? .null,
        ]
    }

    private static func retention(_ answer: ReconciliationReport.Retention) -> JSONTree {
        [
            "answer": .text(answer.answer),
            "rule": answer.offer.isEmpty ? nil : .text(answer.offer),
            "shown": .integer(answer.shown),
            "redeemed": .integer(answer.redeemed),
            "kept": .integer(answer.kept),
            "canceled": .integer(answer.canceled),
        ]
    }
}

extension ReconciliationReport.AppInStore {
    /// What the store calls the member that names its app.
    fileprivate var appMember: String { store == Store.appStore.recordName ? "bundleId" : "packageName" }
}
