// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// The body of an answer of ``ReconciliationCall``; people are pseudonyms.
struct ReconciliationAnswer {
    private let report: ReconciliationReport

    init(_ report: ReconciliationReport) {
        self.report = report
    }

    var bytes: [UInt8] {
        var writer = JSONWriter(reserving: 4096)
        writer.beginObject()
        writer.member("from", rfc3339: report.query.from)
        writer.member("until", rfc3339: report.query.until)
        writer.member("settledUntil", rfc3339: report.settledUntil)
        writer.member("environment", report.query.environment.rawValue)
        writer.member("redeemed", report.uses[.granted] ?? 0)
        writer.member("redeemedEarlier", report.uses[.earlier] ?? 0)
        writer.member("counts") { writer in
            writer.member("redeemedWithoutRecord", report.uses[.ungranted] ?? 0)
            writer.member("redeemedByAnotherAccount", report.uses[.otherAccount] ?? 0)
        }
        write(report.withoutRecord, "redeemedWithoutRecord", &writer)
        write(report.byAnotherAccount, "redeemedByAnotherAccount", &writer)
        writeUnused(&writer)
        writeApps(&writer)
        writeRetention(&writer)
        writer.member("next", report.next?.text)
        writer.endObject()
        return writer.bytes
    }

    private func write(_ uses: [ReconciliationReport.Use], _ name: StaticString, _ writer: inout JSONWriter) {
        writer.name(name)
        writer.beginArray()
        for use in uses {
            writer.beginObject()
            write(use.place, &writer)
            writer.member("productId", use.productID)
            if let plan = use.basePlanID { writer.member("basePlanId", plan) }
            writer.member("offerId", use.offerID)
            writer.member("state", use.state)
            writer.member("redeemedAt", rfc3339: use.redeemedAt)
            writer.member("subscription", AuditEntry.text(ofKey: use.subscription))
            writer.member("index", Int(use.entryIndex))
            if let grantID = use.grantID {
                writer.member("grantId", grantID.description)
                writer.member("grantIndex", use.grantEntryIndex.map { Int($0) })
                writer.member("grantedTo", use.grantedTo.map(AuditEntry.text))
            }
            writer.endObject()
        }
        writer.endArray()
    }

    private func writeUnused(_ writer: inout JSONWriter) {
        writer.member("neverRedeemed") { writer in
            writer.member("count", report.settled.reduce(0) { $0 + $1.neverRedeemed })
            writer.name("entries")
            writer.beginArray()
            for grant in report.neverRedeemed {
                writer.beginObject()
                write(grant.place, &writer)
                writer.member("productId", grant.productID)
                if let plan = grant.basePlanID { writer.member("basePlanId", plan) }
                writer.member("offerId", grant.offerID)
                writer.member("rule", grant.rule)
                writer.member("grantId", grant.grantID.description)
                writer.member("grantedAt", rfc3339: grant.grantedAt)
                writer.member("grantedTo", grant.account.map(AuditEntry.text))
                writer.member("index", Int(grant.entryIndex))
                writer.endObject()
            }
            writer.endArray()
        }
    }

    private func writeApps(_ writer: inout JSONWriter) {
        writer.name("apps")
        writer.beginArray()
        for app in report.settled {
            writer.beginObject()
            write(app.place, &writer)
            writer.member("redeemed", app.redeemed)
            writer.member("neverRedeemed", app.neverRedeemed)
            writer.member("notTold", app.notTold)
            writer.member("lastToldAt", app.lastToldAt?.rfc3339)
            writer.endObject()
        }
        writer.endArray()
    }

    private func writeRetention(_ writer: inout JSONWriter) {
        writer.name("retention")
        writer.beginArray()
        for answer in report.retention {
            writer.beginObject()
            writer.member("answer", answer.answer)
            if !answer.offer.isEmpty { writer.member("rule", answer.offer) }
            writer.member("shown", answer.shown)
            writer.member("redeemed", answer.redeemed)
            writer.member("kept", answer.kept)
            writer.member("canceled", answer.canceled)
            writer.endObject()
        }
        writer.endArray()
    }

    private func write(_ place: ReconciliationReport.AppInStore, _ writer: inout JSONWriter) {
        writer.member("store", place.store)
        writer.member(place.store == Store.appStore.recordName ? "bundleId" : "packageName", place.app)
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, _ text: String?) {
        self.name(name)
        if let text { string(text) } else { null() }
    }

    fileprivate mutating func member(_ name: StaticString, _ number: Int?) {
        self.name(name)
        if let number { integer(Int64(number)) } else { null() }
    }

    fileprivate mutating func member(_ name: StaticString, _ members: (inout JSONWriter) -> Void) {
        self.name(name)
        beginObject()
        members(&self)
        endObject()
    }
}
