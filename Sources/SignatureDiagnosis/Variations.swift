// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
// The standard library has the normal forms of Unicode, and tells only its own libraries so.
@_spi(_Unicode) import Swift

/// The payload that should have been signed, and every known mistake, made out of one report.
struct Variations {
    /// What the App Store rebuilds from what the app attached.
    let base: PayloadForm
    private(set) var all: [Variation] = []

    private let report: SignatureReport
    private let fields: OfferFields
    private let knowledge: DiagnosisKnowledge

    init(_ report: SignatureReport, _ knowledge: DiagnosisKnowledge) {
        self.report = report
        self.knowledge = knowledge
        fields = report.effective
        base = PayloadForm([
            .bundleID: fields.bundleID ?? "", .keyID: fields.keyID ?? "", .productID: fields.productID ?? "",
            .offerID: fields.offerID ?? "",
            .account: fields.appAccountToken?.lowercased() ?? fields.applicationUsername ?? "",
            .nonce: fields.nonce?.lowercased() ?? "", .timestamp: Timestamps.plain(fields.timestamp ?? ""),
        ])
        addAccounts()
        addNonces()
        addTimestamps()
        addNames()
        addForms()
        addPlaceholders()
    }

    private mutating func add(
        _ dimension: Variation.Dimension,
        _ fault: SignatureFault,
        _ field: PayloadForm.Field,
        isFrequent: Bool = true,
        _ texts: String?...
    ) {
        for text in texts.compactMap(\.self) where Array(text.utf8) != base[field] {
            all.append(Variation(dimension, fault, field, isFrequent: isFrequent, text))
        }
    }

    // MARK: - Whose purchase

    private mutating func addAccounts() {
        if let token = fields.appAccountToken {
            add(.account, .tokenCase, .account, token.uppercased(), token)
            add(.account, .tokenForm, .account, token.lowercased().replacing("-", with: ""))
            add(.account, .tokenForm, .account, isFrequent: false, token.uppercased().replacing("-", with: ""))
            add(.account, .usernameSigned, .account, fields.applicationUsername, report.received.applicationUsername)
            add(.account, .tokenNotSigned, .account, "")
        } else if let name = fields.applicationUsername {
            let trimmed = name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            add(.account, .usernameForm, .account, name.lowercased(), String(trimmed), name.uppercased(), name + " ")
            add(.account, .usernameForm, .account, Self.text(name._nfc), Self.text(name._nfd))
            add(.account, .tokenNotSigned, .account, "")
        }
        let isNoneAttached = fields.appAccountToken == nil && fields.applicationUsername == nil
        let others = [report.received.appAccountToken, report.received.applicationUsername] + report.customerNames
        for other in others.compactMap(\.self) {
            add(.account, isNoneAttached ? .tokenNotAttached : .otherTokenSigned, .account, other, other.lowercased())
        }
        let names = [fields.applicationUsername, report.received.applicationUsername] + report.customerNames
        for name in names.compactMap(\.self) { add(.account, .tokenObfuscated, .account, Self.uuid(byMD5Of: name)) }
    }

    private static func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    /// A UUID of version 3 in form, made of a name's MD5 as client libraries do it.
    private static func uuid(byMD5Of name: String) -> String? {
        guard let digest = MD5.digest(of: Array(name.utf8)) else { return nil }
        let digits = Array(digest.flatMap { [$0 >> 4, $0 & 15] }.map { String($0, radix: 16) })
        let parts = [digits[0..<8], digits[8..<12], ["3"] + digits[13..<16], ["8"] + digits[17..<20], digits[20...]]
        return parts.map { $0.joined() }.joined(separator: "-")
    }

    // MARK: - Nonce and time

    private mutating func addNonces() {
        guard let nonce = fields.nonce else { return }
        add(.nonce, .nonceCase, .nonce, nonce.uppercased(), nonce)
        add(.nonce, .nonceForm, .nonce, nonce.lowercased().replacing("-", with: ""))
        add(.nonce, .nonceForm, .nonce, isFrequent: false, nonce.uppercased().replacing("-", with: ""))
        add(.nonce, .otherNonce, .nonce, report.received.nonce?.lowercased(), report.received.nonce?.uppercased())
        for other in knowledge.recordedNonces { add(.nonce, .otherNonce, .nonce, other) }
    }

    private mutating func addTimestamps() {
        guard let text = fields.timestamp else { return }
        if let other = report.received.timestamp, other != text {
            add(.timestamp, .otherTimestamp, .timestamp, Timestamps.plain(other))
        }
        for other in knowledge.recordedTimestamps { add(.timestamp, .otherTimestamp, .timestamp, other) }
        for (fault, variant) in Timestamps.units(of: text) {
            add(.timestamp, fault, .timestamp, variant)
        }
        for variant in Timestamps.milliseconds(within: text) {
            add(.timestamp, .timestampAttached, .timestamp, isFrequent: false, variant)
        }
    }

    // MARK: - Names

    private mutating func addNames() {
        for key in knowledge.keys { add(.keyID, .keyIDInPayload, .keyID, key.id) }
        add(.keyID, .keyIDInPayload, .keyID, isFrequent: false, fields.keyID?.lowercased(), report.received.keyID)
        for (place, id) in knowledge.bundleIDs.enumerated() {
            add(.bundleID, .bundleOfOtherApp, .bundleID, isFrequent: place < Self.mostFrequentNames, id)
        }
        if let id = fields.bundleID { addBundles(like: id) }
        for (place, id) in knowledge.productIDs.enumerated() {
            add(.productID, .otherProduct, .productID, isFrequent: place < Self.mostFrequentNames, id)
        }
        add(.productID, .otherProduct, .productID, report.received.productID)
        for (place, id) in knowledge.offerIDs.enumerated() {
            add(.offerID, .otherOffer, .offerID, isFrequent: place < Self.mostFrequentNames, id)
        }
        add(.offerID, .otherOffer, .offerID, report.received.offerID)
    }

    /// How many names of a kind are tried together with another mistake, so that a large catalog leaves room for the rest.
    private static let mostFrequentNames = 12

    /// Ids of builds and targets beside an app's.
    private mutating func addBundles(like id: String) {
        add(.bundleID, .bundleOfOtherApp, .bundleID, report.received.bundleID, "maccatalyst." + id)
        if id.hasPrefix("maccatalyst.") { add(.bundleID, .bundleOfOtherApp, .bundleID, String(id.dropFirst(12))) }
        let parts = id.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count > 2 {
            add(.bundleID, .bundleOfOtherApp, .bundleID, parts.dropLast().joined(separator: "."))
        }
        for ending in ["dev", "debug", "beta", "staging", "test", "qa", "internal", "watchkitapp", "extension"] {
            add(.bundleID, .bundleOfOtherApp, .bundleID, isFrequent: false, "\(id).\(ending)")
        }
        add(.bundleID, .bundleOfOtherApp, .bundleID, isFrequent: false, id.lowercased())
    }

    // MARK: - How they are joined

    private mutating func addForms() {
        for (separator, isFrequent) in Self.separators {
            let bytes = Array(separator.utf8)
            all.append(Variation(.separator, .separator, isFrequent: isFrequent) { $0.separator = bytes })
        }
        for order in Self.orders { all.append(Variation(.order, .fieldOrder, isFrequent: false) { $0.order = order }) }
        if base[.account].isEmpty {
            all.append(Variation(.separator, .emptyFieldDropped) { $0.dropsEmptyFields = true })
        }
        for ending in ["\n", "\r\n", "\u{2063}", "\0"] {
            let fault: SignatureFault = ending == "\u{2063}" ? .separator : .lineEnd
            all.append(Variation(.order, fault, isFrequent: ending == "\n") { $0.ending = Array(ending.utf8) })
        }
        all.append(Variation(.hashing, .hashedTwice) { $0.hashing = .twice })
        all.append(Variation(.hashing, .hashedTwice) { $0.hashing = .ofHexadecimal })
    }

    private static let separators: [(String, isFrequent: Bool)] = [
        ("\u{2060}", true), ("\u{2062}", true), ("\u{2064}", true), ("\u{200B}", true), ("", true), ("\\u2063", true),
        (" ", true), ("\u{1F}", false), ("\u{2061}", false), ("\u{200C}", false), ("\u{FEFF}", false), (",", false),
        ("|", false), (":", false), ("-", false), ("\n", false), ("\t", false), ("\u{E2}\u{81}\u{A3}", false),
        ("&#8291;", false), ("%E2%81%A3", false), ("\\\\u2063", false), ("u2063", false),
    ]

    /// The right order with two neighbors, or the token, in another place.
    private static let orders: [[PayloadForm.Field]] = {
        let right = PayloadForm.Field.allCases
        var orders: [[PayloadForm.Field]] = []
        for first in right.indices {
            for second in right.indices where second > first {
                var order = right
                order.swapAt(first, second)
                orders.append(order)
            }
        }
        let others = right.filter { $0 != .account }
        for place in 0...others.count where place != 4 {
            var order = others
            order.insert(.account, at: place)
            if !orders.contains(order) { orders.append(order) }
        }
        return orders
    }()

    private mutating func addPlaceholders() {
        let dimensions: [(Variation.Dimension, PayloadForm.Field)] = [
            (.bundleID, .bundleID), (.keyID, .keyID), (.productID, .productID), (.offerID, .offerID),
            (.account, .account), (.nonce, .nonce), (.timestamp, .timestamp),
        ]
        for (dimension, field) in dimensions {
            for text in ["undefined", "null", "nil", "None", "[object Object]", "NaN"] {
                let isFrequent = field == .account && ["undefined", "null"].contains(text)
                add(dimension, .placeholder, field, isFrequent: isFrequent, text)
            }
            if field != .account { add(dimension, .placeholder, field, isFrequent: false, "") }
        }
    }
}

/// One instant in the units in which it is signed or attached by mistake.
enum Timestamps {
    /// An integer as it is; a number with a fraction or an exponent as the integer that it is nearest to.
    static func plain(_ text: String) -> String {
        guard Int64(text) == nil, let number = Double(text), number.magnitude < 9e18 else { return text }
        return String(Int64(number.rounded()))
    }

    /// What may have been signed where this was attached.
    static func units(of text: String) -> [(SignatureFault, String)] {
        guard let value = Int64(plain(text)), value > 0 else { return [] }
        switch value {
        case ..<100_000_000_000:
            return [
                (.timestampAttached, String(value * 1000)), (.timestampUnit, "\(value).0"),
                (.timestampUnit, String(value)),
            ]
        case ..<100_000_000_000_000:
            let (seconds, rest) = (value / 1000, value % 1000)
            let digits = String(String(1000 + rest).dropFirst())
            return [
                (.timestampUnit, String(seconds)), (.timestampUnit, "\(seconds).\(digits)"),
                (.timestampUnit, "\(value).0"), (.timestampUnit, "\(value)000"), (.timestampUnit, "\(value)000000"),
                (.timestampUnit, String(seconds + 1)), (.timestampUnit, "\(seconds)000"),
                (.timestampUnit, "\(Double(value))"),
            ]
        default:
            return [
                (.timestampAttached, String(value / 1000)), (.timestampAttached, String(value / 1_000_000)),
            ]
        }
    }

    /// Every millisecond of a second that was attached.
    static func milliseconds(within text: String) -> [String] {
        guard let value = Int64(plain(text)), (1_000_000_000..<100_000_000_000).contains(value) else { return [] }
        return (0..<1000).map { String(value * 1000 + $0) }
    }
}
