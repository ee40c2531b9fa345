// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import OfferDomain
import ServiceRuntime
import Storage

extension AuditEntry {
    static func details(of read: RecordedRead) -> [Member] {
        [
            ("call", .text(read.call.rawValue)), ("count", .integer(Int64(read.count))),
            ("for", .list(read.conditions.map { .text($0.text) })),
        ] + (read.caller.map { [("caller", .text($0.text))] } ?? [])
    }

    static func details(of fetches: Counted<AuditFetch>) -> [Member] {
        details(of: fetches) { fetch in
            [("call", .text(fetch.call.rawValue))] + (fetch.caller.map { [("caller", .text($0.text))] } ?? [])
        }
    }

    /// The most frequent first; what has no room in an entry is summed up.
    static func details<Key>(of counted: Counted<Key>, _ members: (Key) -> [Member]) -> [Member] {
        let rows = counted.counts.map { (members: members($0.key), count: $0.value) }
            .sorted { $0.count > $1.count }
        let named = rows.prefix(Counted<Key>.mostNamed)
        let others = counted.others + rows.dropFirst(named.count).map(\.count).reduce(0, +)
        return [
            ("counts", .list(named.map { .object($0.members + [("count", .integer(Int64($0.count)))]) })),
            ("from", .integer(counted.from.milliseconds)), ("until", .integer(counted.until.milliseconds)),
        ] + (others > 0 ? [("others", .integer(Int64(others)))] : [])
    }
}

extension AuditEntry {
    static func details(of traffic: Counted<UnauthenticatedTraffic>) -> [Member] {
        details(of: traffic) { request in
            [("problem", .text(request.problem))] + (request.call.map { [("call", .text($0))] } ?? [])
        }
    }
}

extension AuditEntry {
    static func details(of grant: UnredeemedGrant) -> [Member] {
        let isPlay = grant.place.store == Store.googlePlay.recordName
        return [
            (isPlay ? "package" : "bundle", .text(grant.place.app)), ("grant", .text(grant.grantID.description)),
            ("offer", .text(grant.offerID)), ("product", .text(grant.productID)), ("rule", .text(grant.rule)),
            ("ts", .integer(grant.grantedAt.milliseconds)),
        ] + (grant.basePlanID.map { [("base", .text($0))] } ?? [])
    }
}

extension AuditEntry {
    /// The chain is named by its pseudonym.
    static func details(of finding: BoughtWithoutOffer, _ namesGrant: Bool) -> [Member] {
        [
            ("bundle", .text(finding.bundleID.text)), ("chain", .text(text(ofKey: finding.chain.bytes))),
            ("env", .text(finding.environment.rawValue)), ("offer", .text(finding.offerID)),
            ("product", .text(finding.productID)), ("rule", .text(finding.rule)),
            ("ts", .integer(finding.purchasedAt.milliseconds)),
        ] + (namesGrant ? [("grant", .text(finding.grantID.description))] : [])
            + (finding.client.map { [("client", .text($0))] } ?? [])
    }
}

extension AuditEntry {
    static func details(of refusals: Counted<CountedRefusal>) -> [Member] {
        details(of: refusals) { refusal in
            let members = [
                ("caller", refusal.callerID.text), ("bundle", refusal.app.text), ("offer", refusal.offer.text),
                ("outcome", refusal.outcome.rawValue), ("rule", refusal.rule), ("code", refusal.code?.rawValue),
            ]
            return members.compactMap { name, text in text.map { (name, .text($0)) } }
        }
    }
}
