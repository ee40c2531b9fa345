// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// Reads the rule of an offer: an object with one member, named as the rule (see docs/rules.md).
struct RuleFile {
    private let mismatches: Mismatches
    private static let deepest = 12

    /// The rule of an offer, or `nil` with mismatches saying why not.
    ///
    /// `hasFloor`: the offer is only for customers who have or had a subscription, in at least one of its stores.
    static func read(
        _ value: JSONValue,
        of type: OfferType = .promotional,
        hasFloor: Bool,
        _ mismatches: Mismatches
    ) -> Rule? {
        let reader = RuleFile(mismatches: mismatches)
        guard let rule = reader.rule(value, depth: 0) else { return nil }
        for issue in EligibilityPolicy(rule: rule, offerType: type, hasFloor: hasFloor).issues {
            let offset = value.descendant(at: issue.pointer).offset
            mismatches.add(
                Mismatch(pointer: value.pointer + issue.pointer, offset: offset, message: issue.description)
            )
        }
        return rule
    }

    private func rule(_ value: JSONValue, depth: Int) -> Rule? {
        guard let object = value.object, object.count == 1, let member = object.first(where: { _ in true }) else {
            return mismatches.none(
                value,
                "expected an object with one member, named as a rule, found \(describe(value))"
            )
        }
        guard depth < Self.deepest else { return mismatches.none(value, "is nested more than \(Self.deepest) deep") }
        switch member.name {
        case "all": return rules(member.value, depth).map(Rule.all)
        case "any": return rules(member.value, depth).map(Rule.any)
        case "not": return rule(member.value, depth: depth + 1).map(Rule.not)
        default: return leaf(member.name, member.value)
        }
    }

    private func describe(_ value: JSONValue) -> String {
        guard let object = value.object else {
            guard value.array != nil else { return value.summary }
            return "an array; to demand all of its rules, write { all: [ … ] }"
        }
        return object.count == 0
            ? "one with 0 members"
            : "one with \(object.count) members; to demand all of them, write { all: [ { … }, { … } ] }"
    }

    private func rules(_ value: JSONValue, _ depth: Int) -> [Rule]? {
        guard let array = value.array else { return mismatches.none(value, "expected an array of rules") }
        let rules = array.compactMap { rule($0, depth: depth + 1) }
        return rules.count == array.count ? rules : nil
    }

    private func leaf(_ name: String, _ value: JSONValue) -> Rule? {
        switch name {
        case "subscribedBefore":
            return value.bool.map(Rule.subscribedBefore) ?? mismatches.none(value, expected("true or false", value))
        case "autoRenew":
            if let isOn = ["on": true, "off": false][value.string ?? ""] { return .autoRenew(isOn) }
            return mismatches.none(value, expected("“on” or “off”", value))
        case "isActive":
            return value.bool.map(Rule.isActive) ?? mismatches.none(value, expected("true or false", value))
        case "appleWinBackEligible":
            return value.bool.map(Rule.appleWinBackEligible) ?? mismatches.none(value, expected("true or false", value))
        case "billingPlan": return choice(value).map(Rule.billingPlan)
        case "appLicensed":
            return value.bool.map(Rule.appLicensed) ?? mismatches.none(value, expected("true or false", value))
        case "priceStepUpConsent": return choice(value).map(Rule.priceStepUpConsent)
        case "ownership": return choice(value).map(Rule.ownership)
        case "environment": return choice(value).map(Rule.environment)
        default: return members(name, value)
        }
    }

    /// The rules whose value is an object.
    private func members(_ name: String, _ value: JSONValue) -> Rule? {
        let before = mismatches.count
        var reader = ObjectReader(value, into: mismatches)
        let rule: Rule?
        switch name {
        case "status": rule = .status(in: list(&reader) { choice($0) })
        case "storefront": rule = .storefront(in: list(&reader) { identifier($0) })
        case "region": rule = .region(in: list(&reader) { identifier($0) })
        case "renewsTo": rule = .renewsTo(in: list(&reader) { identifier($0) })
        case "appOrigin": rule = .appOrigin(in: list(&reader) { choice($0) })
        case "deviceIntegrity":
            let levels = "one of " + DeviceIntegrity.allCases.map(\.rawValue).joined(separator: ", ")
            rule = reader.required("atLeast", levels) { $0.choice() }.map(Rule.deviceIntegrity)
        case "cancelled":
            rule = .cancelled(atLeastDays: count(&reader, "atLeastDays"), atMostDays: count(&reader, "atMostDays"))
        case "lapsed":
            rule = .lapsed(atLeastDays: count(&reader, "atLeastDays"), atMostDays: count(&reader, "atMostDays"))
        case "cooldown": rule = cooldown(&reader)
        case "commitmentEnds": rule = requiredCount(&reader, "withinDays").map(Rule.commitmentEnds)
        case "commitmentPeriod":
            rule = .commitmentPeriod(atLeast: count(&reader, "atLeast"), atMost: count(&reader, "atMost"))
        case "refunded": rule = refunded(&reader)
        case "grants": rule = grants(&reader)
        case "budget":
            let (perDays, stores) = (count(&reader, "perDays"), stores(&reader))
            rule = requiredCount(&reader, "atMost").map { .budget(atMost: $0, perDays: perDays, stores: stores) }
        case "usedOffers": rule = usedOffers(&reader)
        case "window": rule = .window(from: instant(&reader, "from"), until: instant(&reader, "until"))
        case "attribute": rule = attribute(&reader, value)
        default:
            let suggestion = nearest(to: name, among: Rule.names).map { "; did you mean “\($0)”?" } ?? ""
            let known = Rule.names.sorted().joined(separator: ", ")
            return mismatches.none(value, "is not a rule\(suggestion) (known: \(known))")
        }
        reader.finish()
        return mismatches.count == before ? rule : nil
    }

    private func grants(_ reader: inout ObjectReader) -> Rule? {
        let (perDays, scope, stores) = (count(&reader, "perDays"), scope(&reader), stores(&reader))
        let counting = counting(&reader)
        return requiredCount(&reader, "atMost").map {
            .grants(atMost: $0, perDays: perDays, per: scope, stores: stores, counting: counting)
        }
    }

    private func cooldown(_ reader: inout ObjectReader) -> Rule? {
        let (scope, stores, counting) = (scope(&reader), stores(&reader), counting(&reader))
        return requiredCount(&reader, "days").map {
            .cooldown(days: $0, per: scope, stores: stores, counting: counting)
        }
    }

    // MARK: - Parts of rules

    private func count(_ reader: inout ObjectReader, _ name: StaticString) -> Int? {
        reader.optional(name, "a whole number") { $0.integer.flatMap { Int(exactly: $0) } }
    }

    private func requiredCount(_ reader: inout ObjectReader, _ name: StaticString) -> Int? {
        reader.required(name, "a whole number") { $0.integer.flatMap { Int(exactly: $0) } }
    }

    private func refunded(_ reader: inout ObjectReader) -> Rule? {
        let percent = count(&reader, "atLeastPercent")
        return requiredCount(&reader, "withinDays").map { .refunded(withinDays: $0, atLeastPercent: percent) }
    }

    private func scope(_ reader: inout ObjectReader) -> GrantScope {
        let names = GrantScope.allCases.map(\.rawValue).joined(separator: " or ")
        return reader.optional("per", names) { $0.string.flatMap(GrantScope.init) } ?? .customer
    }

    private func stores(_ reader: inout ObjectReader) -> StoreScope {
        let names = StoreScope.allCases.map(\.rawValue).joined(separator: " or ")
        return reader.optional("stores", names) { $0.string.flatMap(StoreScope.init) } ?? .both
    }

    private func counting(_ reader: inout ObjectReader) -> GrantCounting {
        let names = GrantCounting.allCases.map(\.rawValue).joined(separator: " or ")
        return reader.optional("counting", names) { $0.string.flatMap(GrantCounting.init) } ?? .granted
    }

    private func instant(_ reader: inout ObjectReader, _ name: StaticString) -> Timestamp? {
        reader.optional(name, "a time as RFC 3339 writes it, like 2026-11-21T08:00:00Z") { value in
            value.string.flatMap(Timestamp.init(rfc3339:))
        }
    }

    private func usedOffers(_ reader: inout ObjectReader) -> Rule? {
        let names = OfferType.allCases.map(\.rawValue).joined(separator: ", ")
        let type = reader.optional("type", "one of \(names)") { $0.string.flatMap(OfferType.init) }
        let offer = reader.optional("offer", text: OfferID.init)
        let group = reader.optional("subscriptionGroupId", text: SubscriptionGroupID.init)
        return requiredCount(&reader, "atMost").map {
            .usedOffers(type: type, offer: offer, group: group, atMost: $0)
        }
    }

    private func list<Element>(
        _ reader: inout ObjectReader,
        _ read: (JSONValue) -> Element?
    ) -> [Element] {
        _ = reader.required("in", "an array") { $0.array }
        return reader.elements("in", read)
    }

    private func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ value: JSONValue
    ) -> Choice? {
        if let choice = value.string.flatMap(Choice.init(rawValue:)) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        let suggestion = value.string.flatMap { nearest(to: $0, among: names) }.map { "; did you mean “\($0)”?" }
        let message = expected("one of \(names.joined(separator: ", "))", value) + (suggestion ?? "")
        return mismatches.none(value, message)
    }

    private func identifier<Kind>(_ value: JSONValue) -> Identifier<Kind>? {
        guard let text = value.string else { return mismatches.none(value, expected("a string", value)) }
        do {
            return try Identifier<Kind>(text)
        } catch {
            return mismatches.none(value, error.description)
        }
    }

    private func attribute(_ reader: inout ObjectReader, _ value: JSONValue) -> Rule? {
        guard let name = reader.required("name", "the name of an attribute", as: \.string) else { return nil }
        var tests: [AttributeTest] = []
        if let equals = reader.optional("equals", "a boolean, a number or a string", as: AttributeValue.init) {
            tests.append(.equals(equals))
        }
        if reader.member("in") != nil {
            tests.append(
                .isIn(
                    reader.elements("in") { AttributeValue($0) ?? mismatches.none($0, expected("a plain value", $0)) }
                )
            )
        }
        let atLeast = reader.optional("atLeast", "a number", as: \.double)
        let atMost = reader.optional("atMost", "a number", as: \.double)
        if atLeast != nil || atMost != nil { tests.append(.range(atLeast: atLeast, atMost: atMost)) }
        if let exists = reader.optional("exists", "true or false", as: \.bool) { tests.append(.exists(exists)) }
        guard tests.count == 1, let test = tests.first else {
            return mismatches.none(value, "expected one test: equals, in, atLeast and atMost, or exists")
        }
        return .attribute(name: name, test)
    }

    private func expected(_ what: String, _ value: JSONValue) -> String {
        "expected \(what), found \(value.summary)"
    }
}

extension JSONValue {
    /// The value at a pointer of plain names and indices, or the last one on the way to it that exists.
    fileprivate func descendant(at pointer: String) -> JSONValue {
        pointer.split(separator: "/").reduce(self) { value, step in
            if let object = value.object { return object[String(step)] ?? value }
            return value.array?.enumerated().first { "\($0.offset)" == step }?.element ?? value
        }
    }
}
