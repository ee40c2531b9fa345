// SPDX-License-Identifier: Apache-2.0

/// What the App Store may have rebuilt, if a report lacks members: with each value that is known for them.
extension Variations {
    /// How many combinations are made at most: a search tries each of them first.
    private static let mostBases = 512

    /// One value, or one for a product and one for an offer of it.
    private typealias Filling = [(field: PayloadForm.Field, text: String)]

    static func bases(_ fields: OfferFields, _ knowledge: DiagnosisKnowledge) -> (bases: [Base], isAll: Bool) {
        var bases = [base(fields)]
        var isAll = true
        for fillings in fillings(fields.unknown, knowledge) {
            let room = max(1, mostBases / bases.count) - 1
            isAll = isAll && fillings.count <= room
            bases = bases.flatMap { base in fillings.prefix(room).map { base.filled($0) } + [base] }
        }
        return (bases, isAll)
    }

    private static func base(_ fields: OfferFields) -> Base {
        var values: [PayloadForm.Field: String] = [:]
        for field in PayloadForm.Field.allCases { values[field] = fields[field] ?? "" }
        if let token = fields.appAccountToken { values[.account] = token.lowercased() }
        values[.nonce] = fields.nonce?.lowercased() ?? ""
        values[.timestamp] = Timestamps.plain(fields.timestamp ?? "")
        var faults: [SignatureFault] = []
        if let text = fields.timestamp, fields.isTimestampText || !Timestamps.isPlain(text) {
            faults.append(.timestampAttached)
        }
        return Base(form: PayloadForm(values), faults: faults)
    }

    /// What is known for each member that a report lacks; none of it may be right, which would be a mistake of the server.
    private static func fillings(_ unknown: [PayloadForm.Field], _ knowledge: DiagnosisKnowledge) -> [[Filling]] {
        var fields = unknown
        var fillings: [[Filling]] = []
        if fields.contains(.productID), fields.contains(.offerID), !knowledge.offersByProduct.isEmpty {
            fields.removeAll { $0 == .productID || $0 == .offerID }
            fillings.append(listed(knowledge))
        }
        for field in fields {
            let known: [String] =
                switch field {
                case .bundleID: knowledge.bundleIDs
                case .keyID: knowledge.keyIDs
                case .productID: knowledge.productIDs
                case .offerID: knowledge.offerIDs
                case .nonce: knowledge.recordedNonces
                case .timestamp: knowledge.recordedTimestamps
                case .account: []
                }
            fillings.append(known.map { [(field, $0)] })
        }
        return fillings
    }

    /// Products with their offers, then each without the other.
    private static func listed(_ knowledge: DiagnosisKnowledge) -> [Filling] {
        let pairs: [Filling] = knowledge.productIDs.flatMap { product in
            (knowledge.offersByProduct[product] ?? []).sorted().map { [(.productID, product), (.offerID, $0)] }
        }
        return pairs + knowledge.productIDs.map { [(.productID, $0)] } + knowledge.offerIDs.map { [(.offerID, $0)] }
    }
}

extension Variations.Base {
    fileprivate func filled(_ values: [(field: PayloadForm.Field, text: String)]) -> Self {
        var base = self
        for value in values { base.form[value.field] = Array(value.text.utf8) }
        return base
    }
}
