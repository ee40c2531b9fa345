// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// The payload that should have been signed, and every known mistake, made out of one report.
struct Variations {
    /// What the App Store may have rebuilt.
    struct Base {
        var form: PayloadForm
        /// What is wrong even if the signature was made over this.
        var faults: [SignatureFault]
    }

    /// What the App Store rebuilds from what the app attached: one, or one for each known value of a member that is lacking.
    let bases: [Base]
    /// The mistakes that need no catalog.
    var local: [Variation] = []
    /// The other names of the catalog, by field.
    var names: [Variation] = []
    /// Products with their offers: what is signed for another product is signed for an offer of it.
    var listings: [Variation] = []
    /// Each millisecond of a second that was attached.
    let milliseconds: [Variation]

    let report: SignatureReport
    let fields: OfferFields
    let knowledge: DiagnosisKnowledge
    /// The texts that a field was already changed to: the first explanation of a text is the one that is told.
    private var seen: [PayloadForm.Field: Set<[UInt8]>] = [:]

    init(_ report: SignatureReport, _ knowledge: DiagnosisKnowledge) {
        self.report = report
        self.knowledge = knowledge
        fields = report.effective
        bases = Self.bases(fields, knowledge)
        milliseconds = (fields.timestamp.map { Timestamps.milliseconds(within: $0) } ?? [])
            .map { Variation(.timestamp, .timestampAttached, $0) }
        for field in PayloadForm.Field.allCases where !fields.unknown.contains(field) {
            seen[field] = bases.first.map { [$0.form[field]] } ?? []
        }
        addAccounts()
        addNonces()
        addTimestamps()
        addNames()
        addForms()
        addPlaceholders()
        addCatalog()
    }

    mutating func add(
        _ field: PayloadForm.Field,
        _ fault: SignatureFault,
        isFrequent: Bool = true,
        _ texts: String?...
    ) {
        for text in texts.compactMap(\.self) where seen[field, default: []].insert(Array(text.utf8)).inserted {
            local.append(Variation(field, fault, isFrequent: isFrequent, text))
        }
    }

    // MARK: - What may be right

    private static func bases(_ fields: OfferFields, _ knowledge: DiagnosisKnowledge) -> [Base] {
        var values: [PayloadForm.Field: String] = [:]
        for field in PayloadForm.Field.allCases { values[field] = fields[field] ?? "" }
        if let token = fields.appAccountToken { values[.account] = token.lowercased() }
        values[.nonce] = fields.nonce?.lowercased() ?? ""
        values[.timestamp] = Timestamps.plain(fields.timestamp ?? "")
        var faults: [SignatureFault] = []
        if let text = fields.timestamp, fields.isTimestampText || !Timestamps.isPlain(text) {
            faults.append(.timestampAttached)
        }
        var bases = [Base(form: PayloadForm(values), faults: faults)]
        for field in fields.unknown { bases = bases.flatMap { filled($0, field, knowledge) } }
        if fields.unknown.contains(.productID), fields.unknown.contains(.offerID), !knowledge.offersByProduct.isEmpty {
            bases.removeAll { base in
                let product = String(decoding: base.form[.productID], as: UTF8.self)
                let offer = String(decoding: base.form[.offerID], as: UTF8.self)
                return !product.isEmpty && !offer.isEmpty && knowledge.offersByProduct[product]?.contains(offer) != true
            }
        }
        return bases
    }

    /// With each known value of a member that the report lacks, and with none: that would be a mistake of the server.
    private static func filled(
        _ base: Base,
        _ field: PayloadForm.Field,
        _ knowledge: DiagnosisKnowledge
    ) -> [Base] {
        let known: [String] =
            switch field {
            case .bundleID: knowledge.bundleIDs
            case .keyID: knowledge.keys.compactMap(\.id)
            case .productID: knowledge.productIDs
            case .offerID: knowledge.offerIDs
            case .nonce: knowledge.recordedNonces
            case .timestamp: knowledge.recordedTimestamps
            case .account: []
            }
        var bases = known.prefix(mostFillings).map { text in
            var filled = base
            filled.form[field] = Array(text.utf8)
            return filled
        }
        bases.append(base)
        return bases
    }

    /// How many values are tried for one member that the report lacks.
    private static let mostFillings = 64

    // MARK: - Nonce and time

    private mutating func addNonces() {
        let received = report.received.nonce
        guard let nonce = fields.nonce else {
            return add(.nonce, .missingParameters, received?.lowercased())
        }
        let other: SignatureFault = .otherNonce
        add(.nonce, .nonceCase, nonce.uppercased(), nonce)
        add(.nonce, .nonceForm, nonce.lowercased().replacing("-", with: ""))
        add(.nonce, .nonceForm, isFrequent: false, nonce.uppercased().replacing("-", with: ""))
        for text in [received].compactMap(\.self) + knowledge.recordedNonces
        where text.lowercased() != nonce.lowercased() {
            add(.nonce, other, text.lowercased(), text.uppercased())
        }
    }

    private mutating func addTimestamps() {
        let received = report.received.timestamp
        guard let text = fields.timestamp else {
            return add(.timestamp, .missingParameters, received.map(Timestamps.plain))
        }
        for other in [received].compactMap(\.self) + knowledge.recordedTimestamps {
            let isOneInstant = Timestamps.areOneInstant(text, other) || !Timestamps.isPlain(text)
            add(.timestamp, isOneInstant ? .timestampAttached : .otherTimestamp, Timestamps.plain(other))
        }
        for (place, (fault, variant)) in Timestamps.units(of: text).enumerated() {
            add(.timestamp, fault, isFrequent: place < 8, variant)
        }
    }

    // MARK: - Names

    private mutating func addNames() {
        addReceived(.keyID, .otherKeyIDAttached, report.received.keyID)
        if fields.keyID != nil { for key in knowledge.keys { add(.keyID, .keyIDInPayload, key.id) } }
        add(.keyID, .keyIDInPayload, isFrequent: false, fields.keyID?.lowercased())
        addReceived(.bundleID, .bundleOfOtherApp, report.received.bundleID)
        if let id = fields.bundleID { addBundles(like: id) }
        addReceived(.productID, .otherProduct, report.received.productID)
        addReceived(.offerID, .otherOffer, report.received.offerID)
    }

    /// What the app was given where it attached something else, or nothing.
    private mutating func addReceived(_ field: PayloadForm.Field, _ fault: SignatureFault, _ received: String?) {
        guard !fields.unknown.contains(field) else { return }
        add(field, fields[field] == nil ? .missingParameters : fault, received)
    }

    /// Ids of builds and targets beside an app's.
    private mutating func addBundles(like id: String) {
        add(.bundleID, .bundleOfOtherApp, "maccatalyst." + id)
        if id.hasPrefix("maccatalyst.") { add(.bundleID, .bundleOfOtherApp, String(id.dropFirst(12))) }
        let parts = id.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count > 2 { add(.bundleID, .bundleOfOtherApp, parts.dropLast().joined(separator: ".")) }
        for ending in ["dev", "beta", "debug", "staging"] { add(.bundleID, .bundleOfOtherApp, "\(id).\(ending)") }
        let others = [
            ".test", ".qa", ".internal", ".watchkitapp", ".watchkitapp.watchkitextension", ".extension", ".widget",
            ".Debug", ".Dev", ".Beta", ".Staging", "-dev", "-beta", "-debug", "-staging", "Dev", "Beta",
            ".NotificationService", ".adhoc", ".enterprise",
        ]
        for ending in others { add(.bundleID, .bundleOfOtherApp, isFrequent: false, id + ending) }
        for ending in others + ["dev", "beta", "debug", "staging"] where id.hasSuffix(ending) {
            add(.bundleID, .bundleOfOtherApp, isFrequent: false, String(id.dropLast(ending.count)))
        }
        add(.bundleID, .bundleOfOtherApp, isFrequent: false, id.lowercased())
    }

    /// The names of the catalog, the report's own app and product first.
    private mutating func addCatalog() {
        func others(_ field: PayloadForm.Field, _ fault: SignatureFault, _ ids: [String]) -> [Variation] {
            guard let own = fields[field] else { return [] }
            return ids.filter { $0 != own && seen[field]?.contains(Array($0.utf8)) != true }
                .map { Variation(field, fault, $0) }
        }
        names = others(.bundleID, .bundleOfOtherApp, knowledge.bundleIDs)
        let product = fields.productID ?? ""
        let ownOffers = knowledge.offersByProduct[product] ?? []
        names += others(.offerID, .otherOffer, ownOffers.sorted())
        names += others(.productID, .otherProduct, knowledge.productIDs)
        names += others(.offerID, .otherOffer, knowledge.offerIDs.filter { !ownOffers.contains($0) })
        guard let offer = fields.offerID, fields.productID != nil else { return }
        for (other, offers) in knowledge.offersByProduct.sorted(by: { $0.key < $1.key }) where other != product {
            for id in offers.sorted() where id != offer {
                let (otherBytes, idBytes) = (Array(other.utf8), Array(id.utf8))
                listings.append(
                    Variation(.productID, .otherProduct, .otherOffer) {
                        $0[.productID] = otherBytes
                        $0[.offerID] = idBytes
                    }
                )
            }
        }
    }
}
