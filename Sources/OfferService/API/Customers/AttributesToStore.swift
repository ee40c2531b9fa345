// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain

/// Attributes and facts that a backend sends to be stored of a customer; every member already in its type.
struct AttributesToStore: Sendable {
    let new: AttributeChange.New

    /// Enough for the most attributes, each as long as it may be.
    private static let limits = JSONLimits(maximumBytes: 65_536)
    /// Seconds that attributes may be stored for.
    private static let lifetimes = 60...(StoredAttributes.mostDays * 86_400)

    /// Reads the body; refuses attributes and facts that no rule of the app reads, and values that no rule can judge.
    init(_ request: Request, for app: AppName, in catalog: Catalog, at now: Timestamp) throws(Refusal) {
        try request.requireJSON()
        let document: JSONDocument
        do {
            document = try JSONDocument(request.body, limits: Self.limits)
        } catch {
            throw .request(.malformedJSON(error))
        }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let attributes = reader.optional("attributes", "an object of booleans, numbers and strings") { value in
            Self.attributes(value, for: catalog.attributeNeeds(of: app), mismatches)
        }
        let facts = reader.member("facts").flatMap { value in
            FactsToStore.read(value, for: catalog.factNeeds(of: app), at: now, mismatches)
        }
        if ["attributes", "facts"].allSatisfy({ reader.member($0) == nil }) {
            reader.note("attributes", "is missing, and so is facts; send one of them or both, even empty")
        }
        let expiresAt = Self.expiry(&reader, at: now)
        reader.finish()
        guard mismatches.all.isEmpty, let expiresAt else { throw .invalid(mismatches) }
        new = AttributeChange.New(attributes: attributes, facts: facts, expiresAt: expiresAt)
    }

    private static func attributes(
        _ value: JSONValue,
        for needs: AttributeNeeds,
        _ mismatches: Mismatches
    ) -> Attributes {
        let attributes = AttributesReader.read(value, into: mismatches)
        for entry in attributes.entries {
            guard let fault = needs.fault(of: entry), let value = value.object?[entry.name] else { continue }
            switch fault {
            case .unread: mismatches.add(value, unread(entry.name, needs.names))
            case .otherType(let types):
                let expected = types.map(\.noun).joined(separator: " or ")
                mismatches.add(value, "expected \(expected), as rules of this app have it, found \(value.kind.noun)")
            }
        }
        return attributes
    }

    private static func unread(_ name: String, _ names: [String]) -> String {
        if names.isEmpty { return "is read by no rule: no offer of this app has a rule about an attribute" }
        let suggestion = nearest(to: name, among: names).map { "; did you mean “\($0)”?" } ?? ""
        let known = names.prefix(mostNames).joined(separator: ", ") + (names.count > mostNames ? ", …" : "")
        return "is read by no rule of this app\(suggestion) (read: \(known))"
    }

    private static let mostNames = 64

    /// The end, which is stated as an instant or in seconds from now.
    private static func expiry(_ reader: inout ObjectReader, at now: Timestamp) -> Timestamp? {
        let days = StoredAttributes.mostDays
        let isStated = ["expiresAt", "expiresInSeconds"].map { reader.member($0) != nil }
        let seconds = reader.optional(
            "expiresInSeconds",
            "a whole number from \(lifetimes.lowerBound) to \(lifetimes.upperBound)"
        ) { $0.integer.flatMap { lifetimes.contains($0) ? $0 : nil } }
        let instant = reader.optional("expiresAt", CustomerFactsReader.instant, as: CustomerFactsReader.timestamp)
        if isStated == [true, true] {
            reader.note("expiresAt", "cannot be combined with expiresInSeconds; send one of them")
        }
        if isStated == [false, false] {
            reader.note("expiresAt", "is missing, and so is expiresInSeconds; the most are \(days) days from now")
        }
        if let instant, instant <= now || instant > now.adding(days: Int(days)) {
            reader.note("expiresAt", "is not within the next \(days) days")
        }
        return instant ?? seconds.map { now.adding(seconds: Int($0)) }
    }
}
