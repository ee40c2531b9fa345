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
    /// Whether ``bases`` has every combination of these values, and not as many as a search may try.
    let hasAllBases: Bool
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
    /// The texts that a field was already changed to: only the first explanation of a text is reported.
    private var seen: [PayloadForm.Field: Set<[UInt8]>] = [:]

    init(_ report: SignatureReport, _ knowledge: DiagnosisKnowledge) {
        self.report = report
        self.knowledge = knowledge
        fields = report.effective
        (bases, hasAllBases) = Self.bases(fields, knowledge)
        milliseconds = (fields.timestamp.map { Timestamps.milliseconds(within: $0) } ?? [])
            .map { Variation(.timestamp, .timestampAttached, text: $0) }
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
        texts: String?...
    ) {
        for text in texts.compactMap(\.self) where seen[field, default: []].insert(Array(text.utf8)).inserted {
            local.append(Variation(field, fault, isFrequent: isFrequent, text: text))
        }
    }

    // MARK: - Nonce and time

    private mutating func addNonces() {
        let received = report.received.nonce
        guard let nonce = fields.nonce else {
            return add(.nonce, .missingParameters, texts: received?.lowercased())
        }
        let other: SignatureFault = .otherNonce
        add(.nonce, .nonceCase, texts: nonce.uppercased(), nonce)
        add(.nonce, .nonceForm, texts: nonce.lowercased().replacing("-", with: ""))
        add(.nonce, .nonceForm, isFrequent: false, texts: nonce.uppercased().replacing("-", with: ""))
        for text in [received].compactMap(\.self) + knowledge.recordedNonces
        where text.lowercased() != nonce.lowercased() {
            add(.nonce, other, texts: text.lowercased(), text.uppercased())
        }
    }

    private mutating func addTimestamps() {
        let received = report.received.timestamp
        guard let text = fields.timestamp else {
            return add(.timestamp, .missingParameters, texts: received.map(Timestamps.plain))
        }
        for other in [received].compactMap(\.self) + knowledge.recordedTimestamps {
            let isOneInstant = Timestamps.areOneInstant(text, other) || !Timestamps.isPlain(text)
            add(.timestamp, isOneInstant ? .timestampAttached : .otherTimestamp, texts: Timestamps.plain(other))
        }
        for (place, (fault, variant)) in Timestamps.units(of: text).enumerated() {
            add(.timestamp, fault, isFrequent: place < 8, texts: variant)
        }
    }

    // MARK: - Names

    private mutating func addNames() {
        addReceived(report.received.keyID, in: .keyID, as: .otherKeyIDAttached)
        if fields.keyID != nil { for id in knowledge.keyIDs { add(.keyID, .keyIDInPayload, texts: id) } }
        add(.keyID, .keyIDInPayload, isFrequent: false, texts: fields.keyID?.lowercased())
        addReceived(report.received.bundleID, in: .bundleID, as: .otherBundleAttached)
        if let id = fields.bundleID { addBundles(like: id) }
        addReceived(report.received.productID, in: .productID, as: .otherProductAttached)
        addReceived(report.received.offerID, in: .offerID, as: .otherOfferAttached)
    }

    /// What the app was given where it attached something else, or nothing.
    private mutating func addReceived(_ received: String?, in field: PayloadForm.Field, as fault: SignatureFault) {
        guard !fields.unknown.contains(field) else { return }
        add(field, fields[field] == nil ? .missingParameters : fault, texts: received)
    }

    /// Ids of builds and targets beside an app's.
    private mutating func addBundles(like id: String) {
        add(.bundleID, .bundleOfOtherApp, texts: "maccatalyst." + id)
        if id.hasPrefix("maccatalyst.") { add(.bundleID, .bundleOfOtherApp, texts: String(id.dropFirst(12))) }
        let parts = id.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count > 2 { add(.bundleID, .bundleOfOtherApp, texts: parts.dropLast().joined(separator: ".")) }
        for ending in ["dev", "beta", "debug", "staging"] {
            add(.bundleID, .bundleOfOtherApp, texts: "\(id).\(ending)")
        }
        let others = [
            ".test", ".qa", ".internal", ".watchkitapp", ".watchkitapp.watchkitextension", ".extension", ".widget",
            ".Debug", ".Dev", ".Beta", ".Staging", "-dev", "-beta", "-debug", "-staging", "Dev", "Beta",
            ".NotificationService", ".adhoc", ".enterprise",
        ]
        for ending in others { add(.bundleID, .bundleOfOtherApp, isFrequent: false, texts: id + ending) }
        for ending in others + ["dev", "beta", "debug", "staging"] where id.hasSuffix(ending) {
            add(.bundleID, .bundleOfOtherApp, isFrequent: false, texts: String(id.dropLast(ending.count)))
        }
        add(.bundleID, .bundleOfOtherApp, isFrequent: false, texts: id.lowercased())
    }

    /// The names of the catalog, the report's own app and product first.
    private mutating func addCatalog() {
        func others(_ ids: [String], in field: PayloadForm.Field, as fault: SignatureFault) -> [Variation] {
            guard let own = fields[field] else { return [] }
            return ids.filter { $0 != own && seen[field]?.contains(Array($0.utf8)) != true }
                .map { Variation(field, fault, text: $0) }
        }
        names = others(knowledge.bundleIDs, in: .bundleID, as: .bundleOfOtherApp)
        let product = fields.productID ?? ""
        let ownOffers = knowledge.offersByProduct[product] ?? []
        names += others(ownOffers.sorted(), in: .offerID, as: .otherOffer)
        names += others(knowledge.productIDs, in: .productID, as: .otherProduct)
        names += others(knowledge.offerIDs.filter { !ownOffers.contains($0) }, in: .offerID, as: .otherOffer)
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
