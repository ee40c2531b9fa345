// SPDX-License-Identifier: Apache-2.0
import Cryptography
import SignatureDiagnosis
import TestSupport
import Testing

/// Every known mistake is found with its code: under a known key, under its pin alone, and by two reports of an unknown key.
@Suite struct FaultTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let faults: Set<SignatureFault>
        let make: @Sendable () -> SignedReport

        init(_ faults: SignatureFault..., change: @escaping @Sendable (inout SignedReport) -> Void) {
            self.faults = Set(faults)
            make = {
                var report = SignedReport()
                change(&report)
                return report
            }
        }

        var testDescription: String { faults.map(\.rawValue).sorted().joined(separator: " ") }

        /// Whether these and no others are proved.
        func isAll(_ diagnosis: Diagnosis) -> Bool {
            Set(diagnosis.findings.map(\.fault)) == faults && diagnosis.findings.allSatisfy { $0.certainty == .proved }
        }
    }

    private static let token = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
    private static let nonce = "20fba8a0-2b80-4a7d-a17f-85c1854727f8"

    static let payloads: [Row] = [
        Row(.tokenCase) { $0.signed["appAccountToken"] = token.uppercased() },
        Row(.tokenForm) { $0.signed["appAccountToken"] = token.replacing("-", with: "") },
        Row(.tokenNotSigned) { $0.signed["appAccountToken"] = "" },
        Row(.tokenNotAttached) { report in
            report.attached["appAccountToken"] = .some(nil)
            report.signed["appAccountToken"] = token
            report.members["customerId"] = "\"\(token)\""
        },
        Row(.customerIDSigned) { report in
            report.signed["appAccountToken"] = "customer-42"
            report.members["customerId"] = #""customer-42""#
        },
        Row(.usernameSigned) { report in
            report.signed["appAccountToken"] = "anna@example.com"
            report.members["applicationUsername"] = #""anna@example.com""#
        },
        Row(.usernameForm) { report in
            report.attached["appAccountToken"] = .some(nil)
            report.members["applicationUsername"] = #""Anna""#
            report.signed["appAccountToken"] = "anna"
        },
        Row(.tokenObfuscated) { report in
            // The MD5 of “anna” is a70f9e38ff015afaa9ab0aacabee2e13.
            report.signed["appAccountToken"] = "a70f9e38-ff01-3afa-89ab-0aacabee2e13"
            report.members["customerId"] = #""anna""#
        },
        Row(.nonceCase) { $0.signed["nonce"] = nonce.uppercased() },
        Row(.nonceForm) { $0.signed["nonce"] = nonce.replacing("-", with: "") },
        Row(.otherNonce) { report in
            let other = "00000000-0000-4000-8000-000000000001"
            report.members["attached"] = "{\"nonce\": \"\(other)\"}"
        },
        Row(.timestampUnit) { $0.signed["timestamp"] = "1795250488" },
        Row(.timestampUnit) { $0.signed["timestamp"] = "1795250488.617" },
        Row(.timestampUnit) { $0.signed["timestamp"] = "1795250488617000" },
        Row(.timestampUnit) { $0.signed["timestamp"] = "1795250488617000000" },
        Row(.timestampAttached) { report in
            report.attached["timestamp"] = "1795250488"
            report.signed["timestamp"] = "1795250488617"
        },
        Row(.otherTimestamp) { $0.members["attached"] = #"{"timestamp": 1795250490000}"# },
        Row(.separator) { $0.separator = "\u{2060}" },
        Row(.separator) { $0.separator = "\u{200B}" },
        Row(.separator) { $0.separator = "" },
        Row(.separator) { $0.separator = "\\u2063" },
        Row(.fieldOrder) { $0.order = [0, 1, 3, 2, 4, 5, 6] },
        Row(.fieldOrder) { $0.order = [0, 1, 2, 3, 5, 6, 4] },
        Row(.emptyFieldDropped) { report in
            report.attached["appAccountToken"] = .some(nil)
            report.dropsEmptyFields = true
        },
        Row(.lineEnd) { $0.ending = "\n" },
        Row(.placeholder) { $0.signed["appAccountToken"] = "undefined" },
        Row(.placeholder) { $0.signed["offerId"] = "null" },
        Row(.placeholder) { $0.signed["productId"] = "" },
        Row(.bundleOfOtherApp) { $0.signed["bundleId"] = "com.example.other" },
        Row(.bundleOfOtherApp) { $0.signed["bundleId"] = "maccatalyst.com.example.app" },
        Row(.bundleOfOtherApp) { $0.signed["bundleId"] = "com.example.app.dev" },
        Row(.otherProduct) { $0.signed["productId"] = "basic" },
        Row(.otherOffer) { $0.signed["offerId"] = "Winter offer" },
        Row(.hashedTwice) { $0.hashing = 2 },
        Row(.hashedTwice) { $0.hashing = 3 },
        Row(.tokenNotAttached) { $0.members["attached"] = #"{"appAccountToken": null}"# },
        Row(.tokenNotAttached) { $0.members["attached"] = #"{"appAccountToken": ""}"# },
        Row(.otherBundleAttached) { $0.members["attached"] = #"{"bundleId": "com.example.watch"}"# },
        Row(.otherProductAttached) { $0.members["attached"] = #"{"productId": "basic"}"# },
        Row(.otherOfferAttached) { $0.members["attached"] = #"{"offerId": "Winter offer"}"# },
        Row(.missingParameters) { $0.members["attached"] = #"{"nonce": null}"# },
        Row(.missingParameters) { $0.members["attached"] = #"{"timestamp": ""}"# },
        Row(.missingParameters) { $0.members["attached"] = #"{"offerId": null}"# },
        Row(.otherTokenSigned) { $0.members["attached"] = #"{"appAccountToken": "\#(other)"}"# },
        Row(.usernameSigned) { report in
            report.signed["appAccountToken"] = "anna@example.com"
            report.members["applicationUsername"] = #""Anna@Example.com""#
        },
        Row(.usernameForm) { report in
            report.attached["appAccountToken"] = .some(nil)
            report.members["applicationUsername"] = #""Anna \n""#
            report.signed["appAccountToken"] = "Anna"
        },
        Row(.tokenObfuscated) { report in
            report.attached["appAccountToken"] = .some(nil)
            report.members["applicationUsername"] = #""anna""#
            report.members["attached"] = #"{"appAccountToken": "a70f9e38-ff01-3afa-89ab-0aacabee2e13"}"#
            report.signed["appAccountToken"] = "anna"
        },
        Row(.nonceCase) { report in
            report.attached["nonce"] = nonce.uppercased()
            report.signed["nonce"] = nonce.uppercased()
        },
        Row(.timestampAttached) { $0.members["attached"] = #"{"timestamp": "1795250488617"}"# },
        Row(.timestampAttached) { $0.members["attached"] = #"{"timestamp": 1795250488617.0}"# },
        Row(.timestampAttached) { $0.members["attached"] = #"{"timestamp": 1.79e12}"# },
        Row(.timestampAttached) { $0.members["attached"] = #"{"timestamp": 1795250488}"# },
        Row(.timestampAttached) { $0.members["attached"] = #"{"timestamp": 1795250488617000}"# },
        Row(.timestampAttached) { $0.members["attached"] = #"{"timestamp": 1795250488.617}"# },
        Row(.timestampUnit) { $0.signed["timestamp"] = "1795250488.0" },
        Row(.timestampUnit) { $0.signed["timestamp"] = "1.795250488617e+12" },
        Row(.timestampUnit) { $0.signed["timestamp"] = "1.79525e+12" },
        Row(.otherKeyIDAttached) { $0.members["attached"] = #"{"keyIdentifier": "QQQ9999999"}"# },
        Row(.trailingSeparator) { $0.ending = "\u{2063}" },
        Row(.tokenNotSigned, .emptyFieldDropped) { report in
            report.signed["appAccountToken"] = ""
            report.dropsEmptyFields = true
        },
        Row(.placeholder) { $0.signed = ["productId": "undefined", "offerId": "undefined"] },
        Row(.placeholder) { report in
            report.signed = ["productId": "null", "offerId": "null", "appAccountToken": "null"]
        },
        Row(.placeholder) { $0.signed = ["productId": "", "offerId": ""] },
        Row(.bundleOfOtherApp) { $0.signed["bundleId"] = "com.example.app.NotificationService" },
        Row(.bundleOfOtherApp, .nonceCase) { report in
            report.signed = ["bundleId": "com.example.app.beta", "nonce": nonce.uppercased()]
        },
        Row(.tokenNotSigned, .separator) { report in
            report.signed["appAccountToken"] = ""
            report.separator = ""
        },
        Row(.placeholder, .timestampUnit) { $0.signed = ["offerId": "", "timestamp": "1795250488"] },
        Row(.placeholder, .timestampUnit) { $0.signed = ["appAccountToken": "null", "timestamp": "1795250488"] },
    ]

    private static let other = "11111111-1111-4111-8111-111111111111"

    @Test(arguments: payloads)
    func `a payload with one mistake is proved under the known key`(row: Row) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let diagnosis = try row.make().diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.verdict == .payloadDiffers, "\(diagnosis)")
        #expect(row.isAll(diagnosis), "\(diagnosis)")
        #expect(diagnosis.signedBy == "ABC123DEFG" && diagnosis.recoveredKey == nil && !diagnosis.isKeyOfBothReports)
    }

    @Test(arguments: payloads)
    func `the pin of a key proves the same, and recovers the key`(row: Row) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let diagnosis = try row.make().diagnosis(key, DiagnosisKnowledge(pinOf: key))
        #expect(row.isAll(diagnosis), "\(diagnosis)")
        #expect(diagnosis.recoveredKey == key.publicKey.spkiSHA256.hex)
    }

    @Test(arguments: payloads)
    func `two reports of an unknown key prove the mistake that both have, and one alone does not`(
        row: Row
    ) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var knowledge = DiagnosisKnowledge(pinOf: key)
        knowledge.pins = []
        let alone = try row.make().diagnosis(key, knowledge)
        #expect(alone.verdict == .undecided && alone.notDecidable.contains("needs-second-signature"), "\(alone)")
        knowledge.otherReport = try SignatureReport(json: row.make().json(key))
        let both = try row.make().diagnosis(key, knowledge)
        #expect(row.isAll(both) && both.isKeyOfBothReports, "\(both)")
        #expect(both.recoveredKey == key.publicKey.spkiSHA256.hex)
    }

    // MARK: - How the signature is written

    private static func base64(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes), as: UTF8.self) }

    static let forms: [Row] = [
        Row(.rawSignature) { $0.encode = { base64($0.rawRS) } },
        Row(.derNotStrict) { $0.encode = { base64($0.der + [0]) } },
        Row(.derNotStrict) { $0.encode = { base64([0x30, 0x81] + $0.der.dropFirst()) } },
        Row(.base64URL) { report in
            report.encode = { base64($0.der).replacing("+", with: "-").replacing("/", with: "_") }
        },
        Row(.base64LineBreaks) {
            $0.encode = { signature in
                let text = base64(signature.der)
                return String(text.prefix(64)) + "\n" + String(text.dropFirst(64)) + "\n"
            }
        },
        Row(.base64Twice) { $0.encode = { base64(Array(base64($0.der).utf8)) } },
        Row(.hexadecimal) {
            $0.encode = { $0.der.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
        },
        Row(.dataURL) { $0.encode = { "data:application/octet-stream;base64," + base64($0.der) } },
        Row(.quoted) { $0.encode = { "\"" + base64($0.der) + "\"" } },
        Row(.quoted) { $0.encode = { #"\""# + base64($0.der) + #"\""# } },
        Row(.quoted) { $0.encode = { "'" + base64($0.der) + "'" } },
        Row(.percentEncoded, .base64LineBreaks) {
            $0.encode = { base64($0.der).replacing("=", with: "%3D").replacing("+", with: "%2B") + "%20" }
        },
        Row(.hexadecimal) {
            $0.encode = { "0x" + $0.der.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
        },
        Row(.base64LineBreaks) { $0.encode = { base64($0.der).prefix(64) + "\\n" + base64($0.der).dropFirst(64) } },
        Row(.base64Twice, .base64LineBreaks) {
            $0.encode = { base64(Array((base64($0.der).prefix(64) + "\n" + base64($0.der).dropFirst(64)).utf8)) }
        },
        Row(.derNotStrict) { $0.encode = { base64([0x30, 0x80] + $0.der.dropFirst(2) + [0, 0]) } },
    ]

    @Test(arguments: forms)
    func `reads a signature that is written in another way, and reports that`(row: Row) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        // Of some signatures, two ways of writing are the same.
        let diagnoses = try (0..<8).map { _ in try row.make().diagnosis(key, DiagnosisKnowledge(key)) }
        #expect(
            diagnoses.contains { $0.verdict == .formatWrong && row.isAll($0) },
            "\(diagnoses)"
        )
        #expect(diagnoses.allSatisfy { [.formatWrong, .signedCorrectly].contains($0.verdict) }, "\(diagnoses)")
    }

    @Test func `puts back plus signs that became spaces, and reports that`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.encode = { Self.base64($0.der).replacing("+", with: " ") }
        let diagnoses = try (0..<16).map { _ in try report.diagnosis(key, DiagnosisKnowledge(key)) }
        #expect(diagnoses.contains { $0.findings.contains { $0.fault == .percentEncoded } })
        #expect(diagnoses.allSatisfy { [.formatWrong, .signedCorrectly].contains($0.verdict) }, "\(diagnoses)")
    }

    @Test func `reports missing padding`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.encode = { Self.base64($0.der).replacing("=", with: "") }
        let diagnoses = try (0..<32).map { _ in try report.diagnosis(key, DiagnosisKnowledge(key)) }
        #expect(diagnoses.contains { $0.findings.contains { $0.fault == .base64Unpadded } })
    }

    // MARK: - Nothing wrong, and nothing known

    @Test func `confirms a right signature, and lists what the report can't show`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let diagnosis = try SignedReport().diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.verdict == .signedCorrectly && diagnosis.findings.isEmpty, "\(diagnosis)")
        #expect(diagnosis.notDecidable.contains("key-revoked") && diagnosis.notDecidable.contains("offer-deleted"))
    }

    @Test func `a second that was attached and another mistake are both found`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.attached["timestamp"] = "1795250488"
        report.signed = ["timestamp": "1795250488617", "nonce": Self.nonce.uppercased()]
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(Set(diagnosis.findings.map(\.fault)) == [.timestampAttached, .nonceCase], "\(diagnosis)")
    }

    @Test func `one signature in two reports proves nothing`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.signed["bundleId"] = "something else"
        let json = String(decoding: try report.json(key), as: UTF8.self)
        let other = json.replacing("7e3fb204", with: "11111111").replacing(
            "}",
            with: ", \"attemptedAt\": 1795250499000}"
        )
        var knowledge = DiagnosisKnowledge()
        knowledge.otherReport = try SignatureReport(json: Array(other.utf8))
        let diagnosis = SignatureDiagnoser(knowledge).diagnose(try SignatureReport(json: Array(json.utf8)))
        #expect(diagnosis.verdict == .undecided && diagnosis.findings.isEmpty && diagnosis.recoveredKey == nil)
        #expect(
            diagnosis.notDecidable == ["same-signature-twice", "needs-public-key", "needs-second-signature"],
            "\(diagnosis)"
        )
    }

    @Test(arguments: [true, false])
    func `reports a key that is found but is not the key of the named id`(byPin: Bool) throws {
        try startSecureMemory()
        let (key, named) = (try PrivateKey.generate(), try PrivateKey.generate())
        var knowledge = DiagnosisKnowledge(named)
        if byPin {
            knowledge.pins = [KnownPin(digest: key.publicKey.spkiSHA256)]
        } else {
            knowledge.otherReport = try SignatureReport(json: SignedReport().json(key))
        }
        let diagnosis = try SignedReport().diagnosis(key, knowledge)
        #expect(diagnosis.findings == [Diagnosis.Finding(.keyIDMismatch)], "\(diagnosis)")
        #expect(diagnosis.verdict == .payloadDiffers && diagnosis.isKeyOfBothReports != byPin)
    }

    /// The ids of the key that signed, of the key in the payload, and of the key in the report; all have known pins.
    static let pinned: [(signer: String, payload: String, named: String, fault: SignatureFault?)] = [
        ("ABC123DEFG", "ABC123DEFG", "ABC123DEFG", nil),
        ("ABC123DEFG", "PINNED0002", "ABC123DEFG", .keyIDInPayload),
        ("PINNED0002", "ABC123DEFG", "ABC123DEFG", .keyIDMismatch),
    ]

    @Test(arguments: pinned.indices)
    func `a pin that has its key's id proves which id is wrong`(row: Int) throws {
        try startSecureMemory()
        let (signer, payload, named, fault) = Self.pinned[row]
        let keys = ["ABC123DEFG": try PrivateKey.generate(), "PINNED0002": try PrivateKey.generate()]
        var knowledge = DiagnosisKnowledge()
        knowledge.pins = keys.map { KnownPin(id: $0.key, digest: $0.value.publicKey.spkiSHA256) }
        var report = SignedReport()
        report.signed["keyIdentifier"] = payload
        report.attached["keyIdentifier"] = .some(named)
        let diagnosis = try report.diagnosis(try #require(keys[signer]), knowledge)
        #expect(diagnosis.signedBy == signer && diagnosis.recoveredKey != nil, "\(diagnosis)")
        #expect(diagnosis.findings.map(\.fault) == [fault].compactMap(\.self), "\(diagnosis)")
        #expect(diagnosis.verdict == (fault == nil ? .signedCorrectly : .payloadDiffers))
    }

    @Test func `a report that lacks everything is searched within bounds, in a large catalog`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var knowledge = DiagnosisKnowledge(key)
        knowledge.keys += try (0..<8).map {
            KnownKey(id: "OTHER0000\($0)", publicKey: try PrivateKey.generate().publicKey)
        }
        knowledge.bundleIDs = (0..<100).map { "com.example.app\($0)" }
        knowledge.productIDs = (0..<100).map { "product\($0)" }
        for product in knowledge.productIDs { knowledge.offersByProduct[product] = ["\(product).a", "\(product).b"] }
        knowledge.offerIDs = knowledge.offersByProduct.values.flatMap(\.self).sorted()
        let signature = try key.signature(of: SHA256.digest(of: [1])).der
        let json = #"{"signature": "\#(String(decoding: Base64.encode(signature), as: UTF8.self))"}"#
        let diagnosis = SignatureDiagnoser(knowledge).diagnose(try SignatureReport(json: Array(json.utf8)))
        #expect(diagnosis.verdict == .undecided && diagnosis.triedPayloads <= 4096, "\(diagnosis)")
        #expect(diagnosis.notDecidable.contains("search-not-complete"), "\(diagnosis)")
    }

    @Test func `product and offer that a report lacks are found in a large catalog by what belongs together`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var knowledge = DiagnosisKnowledge(key)
        knowledge.productIDs = (0..<100).map { "product\($0)" }
        for product in knowledge.productIDs { knowledge.offersByProduct[product] = ["\(product).a"] }
        var report = SignedReport()
        report.attached = ["productId": nil, "offerId": nil]
        report.signed = ["productId": "product99", "offerId": "product99.a"]
        let diagnosis = try report.diagnosis(key, knowledge)
        #expect(diagnosis.signedBy == "ABC123DEFG" && diagnosis.findings.isEmpty, "\(diagnosis)")
    }

    @Test(arguments: ["bundleId", "keyIdentifier", "productId", "offerId"])
    func `a member that the report lacks is not known, and no mistake`(name: String) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.attached[name] = .some(nil)
        report.signed[name] = SignedReport.right.first { $0.name == name }?.value
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.verdict == .undecided && diagnosis.findings.isEmpty, "\(diagnosis)")
        #expect(diagnosis.notDecidable == ["needs-fields"] && diagnosis.lacking == [name], "\(diagnosis)")
        #expect(diagnosis.signedBy == "ABC123DEFG")
        report.separator = " "
        let separated = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(separated.findings.map(\.fault) == [.separator] && separated.lacking == [name], "\(separated)")
        report.signed[name] = ""
        report.separator = "\u{2063}"
        let empty = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(empty.findings.map(\.fault) == [.placeholder] && empty.verdict == .payloadDiffers, "\(empty)")
    }

    @Test func `64 bytes are r and s for certain only once they verify`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.encode = { Self.base64($0.rawRS) }
        report.signed["bundleId"] = "something else"
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.findings.map(\.certainty) == [.likely] && diagnosis.verdict == .formatWrong, "\(diagnosis)")
        report.encode = { Self.base64([UInt8](repeating: 0xFF, count: 32) + $0.rawRS.suffix(32)) }
        let tooLarge = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(tooLarge.findings.map(\.fault) == [.notDecodable], "\(tooLarge)")
    }

    @Test func `searches a catalog by its listings, and reports what was not tried`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var knowledge = DiagnosisKnowledge(key)
        for number in 0..<300 {
            knowledge.productIDs.append("product\(number)")
            let offers = (0..<4).map { "offer\(number)x\($0)" }
            knowledge.offerIDs += offers
            knowledge.offersByProduct["product\(number)"] = Set(offers)
        }
        knowledge.offersByProduct["pro"] = ["offer1"]
        var report = SignedReport()
        report.signed = ["productId": "product299", "offerId": "offer299x3"]
        let listed = try report.diagnosis(key, knowledge)
        #expect(Set(listed.findings.map(\.fault)) == [.otherProduct, .otherOffer], "\(listed)")
        report.signed = ["nonce": Self.nonce.uppercased(), "appAccountToken": Self.token.uppercased()]
        let local = try report.diagnosis(key, knowledge)
        #expect(Set(local.findings.map(\.fault)) == [.nonceCase, .tokenCase], "\(local)")
        report.signed = ["bundleId": "something else"]
        let unknown = try report.diagnosis(key, knowledge)
        #expect(unknown.notDecidable.contains("search-not-complete") && unknown.triedPayloads <= 4096, "\(unknown)")
    }

    @Test(arguments: [
        "-9223372036854775808", "9223372036854775807", "-100000000000000000", "0", "-1", "1e18", "-9e18", "1e300",
        "18446744073709551616",
    ])
    func `no time ends the process`(time: String) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.members["attached"] = "{\"timestamp\": \(time)}"
        report.members["attemptedAt"] = "5"
        #expect(try report.diagnosis(key, DiagnosisKnowledge(key)).isDecided)
        report.attached["timestamp"] = time
        report.members["attached"] = nil
        #expect(try report.diagnosis(key, DiagnosisKnowledge(key)).triedPayloads > 0)
        for attempt in ["-9223372036854775808", "10000000000000001"] {
            report.members["attemptedAt"] = attempt
            let error = #expect(throws: ReportError.self) { try report.diagnosis(key, DiagnosisKnowledge()) }
            #expect(error?.pointer == "/attemptedAt")
        }
    }

    @Test func `the key of another id is named`() throws {
        try startSecureMemory()
        let (key, other) = (try PrivateKey.generate(), try PrivateKey.generate())
        var knowledge = DiagnosisKnowledge(other)
        knowledge.keys.append(KnownKey(id: "ZZZ9999999", publicKey: key.publicKey))
        let diagnosis = try SignedReport().diagnosis(key, knowledge)
        #expect(diagnosis.verdict == .payloadDiffers && diagnosis.signedBy == "ZZZ9999999", "\(diagnosis)")
        #expect(diagnosis.findings.map(\.fault) == [.keyIDMismatch])
        var inPayload = SignedReport()
        inPayload.signed["keyIdentifier"] = "ZZZ9999999"
        let named = try inPayload.diagnosis(key, knowledge)
        #expect(named.findings.map(\.fault) == [.keyIDInPayload, .keyIDMismatch], "\(named)")
    }

    @Test func `a signature over something else is undecided, and nothing is called proved`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.signed["bundleId"] = "something else"
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.verdict == .undecided && diagnosis.findings.isEmpty, "\(diagnosis)")
        report.encode = { _ in "no signature at all" }
        let text = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(text.verdict == .formatWrong && text.findings.map(\.fault) == [.notDecodable])
    }

    @Test(arguments: UInt64(1)...3)
    func `what is called proved was really done, of two mistakes at once`(seed: UInt64) throws {
        try startSecureMemory()
        var random = SplitMix(seed: seed)
        let key = try PrivateKey.generate()
        var found = 0
        for _ in 0..<TestRing.rounds(20, nightly: 2000) {
            let rows = [random.pick(Self.simple), random.pick(Self.simple)]
            guard rows[0].name != rows[1].name else { continue }
            var report = SignedReport()
            for row in rows { report.signed[row.name] = row.value }
            let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
            let proved = Set(diagnosis.findings.map(\.fault))
            #expect(proved.isEmpty || !proved.isDisjoint(with: rows.map(\.fault)), "\(rows) \(diagnosis)")
            if proved.isSuperset(of: rows.map(\.fault)) { found += 1 }
        }
        #expect(found > 0)
    }

    private static let simple: [(fault: SignatureFault, name: String, value: String)] = [
        (.tokenCase, "appAccountToken", token.uppercased()), (.tokenNotSigned, "appAccountToken", ""),
        (.nonceCase, "nonce", nonce.uppercased()), (.timestampUnit, "timestamp", "1795250488"),
        (.bundleOfOtherApp, "bundleId", "com.example.other"), (.otherProduct, "productId", "basic"),
        (.otherOffer, "offerId", "Winter offer"),
    ]
}
