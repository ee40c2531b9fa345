// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
package import JSON
package import OfferDomain

/// What is looked for in the audit log; every condition that is set must hold.
package struct AuditQuery: Hashable, Sendable {
    /// The members of an entry that can be asked for, by the name of their option.
    package enum Field: String, CaseIterable, Hashable, Sendable {
        case event, key, caller, bundle, package, product, offer, rule, outcome, user, grant, nonce, digest, request

        /// The member of the entry.
        package var member: String {
            switch self {
            case .event: "ev"
            case .key: "kid"
            case .caller: "caller"
            case .bundle: "bundle"
            case .package: "package"
            case .product: "product"
            case .offer: "offer"
            case .rule: "rule"
            case .outcome: "outcome"
            case .user: "users"
            case .grant: "grant"
            case .nonce: "nonce"
            case .digest: "digest"
            case .request: "rid"
            }
        }
    }

    /// What is wrong with a value that no entry can have in a field; nil if an entry may have it.
    ///
    /// Without this check, the reader could take an empty answer for “nothing happened”.
    package static func fault(of value: String, in field: Field) -> String? {
        switch field {
        case .event: AuditEventName.fault(of: value)
        case .user where !Pseudonym.isSearchable(value):
            // The given value is not repeated: it may name a person.
            "must be a pseudonym as records have it, hmac:EPOCH:CODE; to find a customer by name, ask "
                + "POST /v1/audit/customers, or run: offer-signer customers pseudonym"
        case .outcome where Outcome(rawValue: value) == nil:
            "expected \(Outcome.allCases.map(\.rawValue).joined(separator: ", ")), found \(printable(value))"
        default: nil
        }
    }

    /// Which entries come first.
    package enum Order: String, CaseIterable, Hashable, Sendable {
        case newest, oldest
    }

    /// The earliest time of an entry; `nil` for no limit.
    package var from: Timestamp?
    /// The first time that is too late for an entry; `nil` for no limit.
    package var until: Timestamp?
    /// The value that each field must have; in a field with a list, one of its values.
    package var fields: [Field: String]
    /// The code of one of the findings in `why`.
    package var reason: FindingCode?
    /// The events whose entries are left out.
    package var excludedEvents: Set<AuditEventName> = []
    /// The order of the answer; with ``limit``, also which entries are left out.
    package var order: Order
    /// The most entries.
    package var limit: Int

    package init(
        from: Timestamp? = nil,
        until: Timestamp? = nil,
        fields: [Field: String] = [:],
        order: Order = .oldest,
        limit: Int = .max
    ) {
        self.from = from
        self.until = until
        self.fields = fields
        self.order = order
        self.limit = limit
    }

    /// Whether an entry meets every condition but those of time.
    package func matches(_ entry: JSONObject) -> Bool {
        guard !isExcluded(entry), hasReason(entry) else { return false }
        return fields.allSatisfy { field, wanted in
            if field == .user, recordsTransfer(entry, wanted) { return true }
            if field == .caller, Self.countedCallers(entry).contains(where: { $0.string(equals: wanted) }) {
                return true
            }
            guard let value = entry[field.member] else { return false }
            if let list = value.array { return list.contains { $0.string(equals: wanted) } }
            return value.string(equals: wanted)
        }
    }

    private func isExcluded(_ entry: JSONObject) -> Bool {
        guard !excludedEvents.isEmpty, let event = entry[Field.event.member]?.string else { return false }
        return AuditEventName(rawValue: event).map(excludedEvents.contains) ?? false
    }

    private func hasReason(_ entry: JSONObject) -> Bool {
        guard let reason else { return true }
        return entry["why"]?.array?.contains { finding in
            ["code", "of"].contains { finding.object?[$0]?.string(equals: reason.rawValue) ?? false }
        } ?? false
    }

    /// The callers in a summary entry's counts; such an entry names several.
    static func countedCallers(_ entry: JSONObject) -> [JSONValue] {
        entry["counts"]?.array.map { $0.compactMap { $0.object?["caller"] } } ?? []
    }

    /// The members in which an entry names both sides of a transfer.
    package static let transferEnds = ["from", "to"]

    /// How the transfer of a subscription names a user: by the first 16 bytes of the pseudonym.
    package static func transferKey(ofUser user: String) -> String? {
        let code = user.utf8.split(separator: UInt8(ascii: ":")).last.flatMap { Base64.decodeURL(Array($0)) }
        return code.map { String(decoding: Base64.encodeURL(Array($0.prefix(16))), as: UTF8.self) }
    }
}

/// Whether an entry records a transfer from or to the user, by the pseudonym or by its key.
private func recordsTransfer(_ entry: JSONObject, _ user: String) -> Bool {
    let ends = AuditQuery.transferEnds.compactMap { entry[$0] }
    if ends.isEmpty { return false }
    let key = AuditQuery.transferKey(ofUser: user)
    return ends.contains { end in end.string(equals: user) || key.map(end.string(equals:)) ?? false }
}
