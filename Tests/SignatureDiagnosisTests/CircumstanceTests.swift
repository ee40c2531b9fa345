// SPDX-License-Identifier: Apache-2.0
import Cryptography
import SignatureDiagnosis
import TestSupport
import Testing

/// What lies outside the signature, and the JWS.
@Suite struct CircumstanceTests {
    private static func jws(_ header: String, _ claims: String, _ key: PrivateKey, der: Bool = false) throws -> String {
        let parts = [header, claims].map { String(decoding: Base64.encodeURL(Array($0.utf8)), as: UTF8.self) }
        let signed = parts.joined(separator: ".")
        let signature = try key.signature(of: SHA256.digest(of: Array(signed.utf8)))
        return signed + "." + String(decoding: Base64.encodeURL(der ? signature.der : signature.rawRS), as: UTF8.self)
    }

    private static let header = #"{"alg":"ES256","kid":"ABC123DEFG","typ":"JWT"}"#
    private static let claims = """
        {"iss":"57246542-96fe-1a63-e053-0824d011072a","iat":1795250488,"aud":"promotional-offer","bid":"com.example.app",\
        "nonce":"20fba8a0-2b80-4a7d-a17f-85c1854727f8","productId":"pro","offerIdentifier":"offer1"}
        """

    @Test func `a right JWS is called right`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let report = try SignatureReport(json: Array(#"{"jws": "\#(Self.jws(Self.header, Self.claims, key))"}"#.utf8))
        let diagnosis = SignatureDiagnoser(DiagnosisKnowledge(key)).diagnose(report)
        #expect(diagnosis.verdict == .signedCorrectly, "\(diagnosis)")
    }

    @Test func `an answer that names too little for its original signature is judged by its JWS`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let jws = try Self.jws(Self.header, Self.claims, key)
        let report = try SignatureReport(
            json: Array(#"{"identifier": "offer1", "signature": "MEUC", "jws": "\#(jws)"}"#.utf8)
        )
        let diagnosis = SignatureDiagnoser(DiagnosisKnowledge(key)).diagnose(report)
        #expect(diagnosis.verdict == .signedCorrectly, "\(diagnosis)")
    }

    @Test(arguments: [
        (#""alg":"ES256""#, #""alg":"ES512""#, SignatureFault.jwsHeader),
        (#","typ":"JWT""#, "", .jwsHeader),
        (#""typ":"JWT""#, #""typ":"JWT","x":"y""#, .jwsHeader),
        (#""iat":1795250488"#, #""iat":1795250488617"#, .jwsTime),
        (#""iat":1795250488"#, #""iat":"1795250488""#, .jwsTime),
        (#""iat":1795250488"#, #""iat":1795250488,"exp":1795254088"#, .jwsClaims),
        (#""aud":"promotional-offer""#, #""aud":"promotional-offers""#, .jwsAudience),
        (#""bid":"com.example.app","#, "", .jwsClaims),
        (#","offerIdentifier":"offer1""#, "", .jwsClaims),
        (#""productId":"pro""#, #""productId":5"#, .jwsClaims),
        ("20fba8a0-2b80-4a7d-a17f-85c1854727f8", "20fba8a02b804a7da17f85c1854727f8", .jwsNonce),
        (#""productId":"pro""#, #""productId":"""#, .jwsClaims),
        (#""offerIdentifier":"offer1""#, #""offerIdentifier":"""#, .jwsClaims),
        (#""offerIdentifier":"offer1""#, #""offerIdentifier":"offer1","transactionId":"""#, .jwsClaims),
        ("57246542-96fe-1a63-e053-0824d011072a", "57246542", .jwsIssuer),
    ])
    func `reports each way in which a JWS differs`(right: String, wrong: String, fault: SignatureFault) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let (header, claims) = (Self.header.replacing(right, with: wrong), Self.claims.replacing(right, with: wrong))
        #expect(header != Self.header || claims != Self.claims)
        let report = try SignatureReport(json: Array(#"{"jws": "\#(Self.jws(header, claims, key))"}"#.utf8))
        let diagnosis = SignatureDiagnoser(DiagnosisKnowledge(key)).diagnose(report)
        #expect(diagnosis.findings.map(\.fault) == [fault] && diagnosis.verdict == .payloadDiffers, "\(diagnosis)")
    }

    @Test func `reports a JWS that has a signature in DER, is signed by another key, or was changed`() throws {
        try startSecureMemory()
        let (key, other) = (try PrivateKey.generate(), try PrivateKey.generate())
        func faults(_ jws: String) throws -> [SignatureFault] {
            let report = try SignatureReport(json: Array("{\"jws\": \"\(jws)\"}".utf8))
            return SignatureDiagnoser(DiagnosisKnowledge(key)).diagnose(report).findings.map(\.fault)
        }
        #expect(try faults(Self.jws(Self.header, Self.claims, key, der: true)) == [.jwsSignatureDER])
        #expect(try faults(Self.jws(Self.header, Self.claims, other)) == [.jwsNotVerified])
        #expect(try faults("a.b") == [.jwsForm])
    }

    @Test(arguments: [
        (#""attemptedAt": 1795336888618"#, Diagnosis.Verdict.expired, SignatureFault.expired),
        (#""error": {"domain": "SKErrorDomain", "code": 18}"#, .notEligibleAtStore, .notEligible),
        (#""error": "ineligibleForOffer""#, .notEligibleAtStore, .notEligible),
        (#""error": {"code": 11}"#, .signedCorrectly, .offerUnknown),
        (#""error": {"code": 14}"#, .signedCorrectly, .offerPrice),
        (#""error": {"code": 13}"#, .signedCorrectly, .missingParameters),
    ])
    func `reports what StoreKit said, and a late attempt, for a right signature`(
        member: String,
        verdict: Diagnosis.Verdict,
        fault: SignatureFault
    ) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        let parts = member.split(separator: ":", maxSplits: 1)
        report.members[String(parts[0].replacing("\"", with: ""))] = String(parts[1])
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.verdict == verdict && diagnosis.findings.map(\.fault) == [fault], "\(diagnosis)")
    }

    @Test(arguments: [
        (#""20fba8a0-2b80-4a7d-a17f-85c1854727f8""#, #""20FBA8A0-2B80-4A7D-A17F-85C1854727F8""#),
        (
            #""promotional-offer","bid":"com.example.app""#,
            #""advanced-commerce-api","bid":"com.example.app","request":"e30""#
        ),
    ])
    func `a JWS that Apple takes is called right`(right: String, other: String) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var claims = Self.claims.replacing(right, with: other)
        if claims.contains("advanced") {
            claims = claims.replacing(#","productId":"pro","offerIdentifier":"offer1""#, with: "")
        }
        #expect(claims != Self.claims)
        let report = try SignatureReport(json: Array(#"{"jws": "\#(Self.jws(Self.header, claims, key))"}"#.utf8))
        let diagnosis = SignatureDiagnoser(DiagnosisKnowledge(key)).diagnose(report)
        #expect(diagnosis.verdict == .signedCorrectly && diagnosis.findings.isEmpty, "\(diagnosis)")
    }

    @Test(arguments: [
        (Int64(1_795_250_488), Diagnosis.Verdict.signedCorrectly, [Diagnosis.Finding]()),
        (Int64(1_795_250_488 - 301), .payloadDiffers, [Diagnosis.Finding(.jwsTime)]),
        (Int64(1_795_250_488 + 86_401), .signedCorrectly, [Diagnosis.Finding(.jwsTime, .possible)]),
    ])
    func `a JWS from the future is wrong, and an old one may be`(
        now: Int64,
        verdict: Diagnosis.Verdict,
        findings: [Diagnosis.Finding]
    ) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var knowledge = DiagnosisKnowledge(key)
        knowledge.now = now * 1000
        let report = try SignatureReport(json: Array(#"{"jws": "\#(Self.jws(Self.header, Self.claims, key))"}"#.utf8))
        let diagnosis = SignatureDiagnoser(knowledge).diagnose(report)
        #expect(diagnosis.verdict == verdict && diagnosis.findings == findings, "\(diagnosis)")
    }

    @Test func `reports a JWS in DER as a wrong format, for a known and for an unknown key`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let jws = try Self.jws(Self.header, Self.claims, key, der: true)
        let report = try SignatureReport(json: Array("{\"jws\": \"\(jws)\"}".utf8))
        for knowledge in [DiagnosisKnowledge(key), DiagnosisKnowledge()] {
            let diagnosis = SignatureDiagnoser(knowledge).diagnose(report)
            #expect(diagnosis.verdict == .formatWrong && diagnosis.findings.map(\.fault) == [.jwsSignatureDER])
        }
    }

    @Test func `both forms of one report are looked at`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let claims = Self.claims.replacing(#""bid""#, with: #""exp":1795254088,"bid""#)
        var report = SignedReport()
        report.members["jws"] = "\"\(try Self.jws(Self.header, claims, key))\""
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.verdict == .payloadDiffers && diagnosis.findings.map(\.fault) == [.jwsClaims], "\(diagnosis)")
    }

    @Test func `recovers an unknown key from two JWS, unless they are the same`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        func report() throws -> SignatureReport {
            try SignatureReport(json: Array(#"{"jws": "\#(Self.jws(Self.header, Self.claims, key))"}"#.utf8))
        }
        var knowledge = DiagnosisKnowledge()
        let first = try report()
        knowledge.otherReport = try report()
        let both = SignatureDiagnoser(knowledge).diagnose(first)
        #expect(both.verdict == .signedCorrectly && both.isKeyOfBothReports, "\(both)")
        knowledge.otherReport = first
        let same = SignatureDiagnoser(knowledge).diagnose(first)
        #expect(same.verdict == .undecided && same.notDecidable.contains("same-signature-twice"), "\(same)")
    }

    @Test func `what StoreKit says does not make a signature right that verifies nowhere`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.signed["bundleId"] = "something else"
        report.members["error"] = #"{"domain": "SKErrorDomain", "code": 18}"#
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.verdict == .undecided, "\(diagnosis)")
        #expect(diagnosis.findings == [Diagnosis.Finding(.notEligible, .likely)])
        #expect(diagnosis.lines.first?.contains("is right") == false)
    }

    @Test(arguments: [
        #"{"domain": "ASDErrorDomain", "code": 18}"#, #"{"domain": "NSURLErrorDomain", "code": 11}"#,
        #"{"domain": "12345", "code": 18}"#, #"{"domain": "StoreKit.StoreKitError", "code": 14}"#,
        #"{"domain": "StoreKit.Product.PurchaseError", "code": 2}"#, #""invalidQuantity""#,
        #"{"domain": "SKErrorDomain", "code": 0, "underlying": {"domain": "SKErrorDomain", "code": 18}}"#,
    ])
    func `a code of another domain is not interpreted`(error: String) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.members["error"] = error
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.verdict == .signedCorrectly && diagnosis.findings.isEmpty, "\(diagnosis)")
        #expect(!diagnosis.reportedErrors.isEmpty)
    }

    @Test(arguments: [
        (#"{"productId": "pro", "offerType": 2, "offerIdentifier": "offer1"}"#, Diagnosis.Verdict.signedCorrectly),
        (#"{"productId": "pro", "offerType": 2, "offerIdentifier": "other"}"#, .offerNotApplied),
        (#"{"productId": "pro", "offerType": 1}"#, .offerNotApplied),
        (#"{"productId": "pro", "purchaseDate": 1795250499000}"#, .offerNotApplied),
        (#"{"productId": "pro", "purchaseDate": 1595250488617}"#, .signedCorrectly),
        (#"{"productId": "basic"}"#, .signedCorrectly),
        (#"{"productId": "pro", "transactionReason": "RENEWAL"}"#, .signedCorrectly),
        (#"{"productId": "pro", "transactionReason": "PURCHASE"}"#, .offerNotApplied),
        (#"{"productId": "pro", "inAppOwnershipType": "FAMILY_SHARED"}"#, .signedCorrectly),
    ])
    func `a purchase shows that the offer was lost if it is of that offer's product and time`(
        claims: String,
        verdict: Diagnosis.Verdict
    ) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let transaction = try Self.jws("{}", claims, key)
        var report = SignedReport()
        report.members["signedTransaction"] = "\"\(transaction)\""
        #expect(try report.diagnosis(key, DiagnosisKnowledge(key)).verdict == verdict)
        let jws = try Self.jws(Self.header, Self.claims, key)
        let json = #"{"jws": "\#(jws)", "signedTransaction": "\#(transaction)"}"#
        let diagnosis = SignatureDiagnoser(DiagnosisKnowledge(key)).diagnose(
            try SignatureReport(json: Array(json.utf8))
        )
        #expect(diagnosis.verdict == verdict, "\(diagnosis)")
    }

    /// Further members of a right report, and what they show.
    static let hints: [(members: [String: String], fault: SignatureFault, certainty: Diagnosis.Certainty)] = [
        (["error": #"{"code": 5}"#], .productUnavailable, .likely),
        (["error": #""productUnavailable""#], .productUnavailable, .likely),
        (["error": #"{"code": 3}"#], .productUnavailable, .possible),
        (
            ["signedTransaction": #"{"productId": "pro", "inAppOwnershipType": "FAMILY_SHARED"}"#], .familyShared,
            .likely
        ),
    ]

    @Test(arguments: hints.indices)
    func `reports what StoreKit says about a right signature, and does not take it as proof`(row: Int) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        for (name, value) in Self.hints[row].members {
            report.members[name] = name == "error" ? value : "\"\(try Self.jws("{}", value, key))\""
        }
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.verdict == .signedCorrectly, "\(diagnosis)")
        #expect(
            diagnosis.findings == [Diagnosis.Finding(Self.hints[row].fault, Self.hints[row].certainty)],
            "\(diagnosis)"
        )
    }

    @Test func `without the time of the attempt, an old signature may be too old, and a fresh one is not`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var knowledge = DiagnosisKnowledge(key)
        knowledge.now = 1_795_250_488_617 + 3 * 24 * 3_600_000
        let old = try SignedReport().diagnosis(key, knowledge)
        #expect(old.verdict == .signedCorrectly && old.notDecidable.contains("needs-attempt-time"), "\(old)")
        #expect(old.findings == [Diagnosis.Finding(.expired, .possible)], "\(old)")
        knowledge.now = 1_795_250_488_617 + 3_600_000
        #expect(try SignedReport().diagnosis(key, knowledge).findings.isEmpty)
    }

    @Test func `a time as text is possible as a mistake in a report, and proved as what the app attached`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let flat = String(decoding: try SignedReport().json(key), as: UTF8.self)
            .replacing("\"timestamp\": 1795250488617", with: "\"timestamp\": \"1795250488617\"")
        let knowledge = DiagnosisKnowledge(key)
        let diagnosis = SignatureDiagnoser(knowledge).diagnose(try SignatureReport(json: Array(flat.utf8)))
        #expect(diagnosis.verdict == .signedCorrectly, "\(diagnosis)")
        #expect(diagnosis.findings == [Diagnosis.Finding(.timestampAttached, .possible)], "\(diagnosis)")
        var report = SignedReport()
        report.members["attached"] = #"{"timestamp": "1795250488617"}"#
        #expect(try report.diagnosis(key, knowledge).findings == [Diagnosis.Finding(.timestampAttached)])
    }

    @Test func `a JWS that nothing is known of takes nothing from a signature that is right`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let jws = try Self.jws(
            Self.header.replacing("ABC123DEFG", with: "UNKNOWN001"),
            Self.claims,
            PrivateKey.generate()
        )
        var report = SignedReport()
        report.members["jws"] = "\"\(jws)\""
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.verdict == .signedCorrectly && diagnosis.signedDigests.count == 1, "\(diagnosis)")
    }

    @Test func `a purchase's JWS is read as the purchase that it is, in either member`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let claims = """
            {"productId": "pro", "originalTransactionId": "1", "transactionId": "2", "purchaseDate": 1795250499000}
            """
        var report = SignedReport()
        report.members["jws"] = "\"\(try Self.jws("{}", claims, key))\""
        #expect(try report.diagnosis(key, DiagnosisKnowledge(key)).verdict == .offerNotApplied)
        let alone = #"{"jws": "\#(try Self.jws("{}", claims, key))"}"#
        let error = #expect(throws: ReportError.self) { try SignatureReport(json: Array(alone.utf8)) }
        #expect(error?.description.contains("signedTransaction") == true)
    }

    @Test(arguments: [("1", true), ("2", true), ("7", false)])
    func `a JWS of a transaction that is none of the reported purchase is possible as a mistake`(
        id: String,
        isRight: Bool
    ) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let jws = try Self.jws(Self.header, Self.claims.replacing("}", with: #","transactionId":"\#(id)"}"#), key)
        let purchase = #"{"originalTransactionId": "1", "transactionId": "2", "purchaseDate": 1595250488617}"#
        let json = #"{"jws": "\#(jws)", "signedTransaction": "\#(try Self.jws("{}", purchase, key))"}"#
        let diagnosis = SignatureDiagnoser(DiagnosisKnowledge(key)).diagnose(
            try SignatureReport(json: Array(json.utf8))
        )
        #expect(diagnosis.verdict == .signedCorrectly, "\(diagnosis)")
        #expect(diagnosis.findings == (isRight ? [] : [Diagnosis.Finding(.jwsTransaction, .possible)]), "\(diagnosis)")
    }

    @Test func `a token for the App Store Server API is no offer that a record would lack`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let claims = Self.claims.replacing("promotional-offer", with: "appstoreconnect-v1")
        let json = #"{"jws": "\#(try Self.jws(Self.header, claims, key))"}"#
        let diagnosis = SignatureDiagnoser(DiagnosisKnowledge(key)).diagnose(
            try SignatureReport(json: Array(json.utf8))
        )
        #expect(diagnosis.signedDigests.isEmpty && diagnosis.signedBy == "ABC123DEFG", "\(diagnosis)")
        #expect(diagnosis.findings.contains(Diagnosis.Finding(.jwsAudience)))
    }

    @Test func `reports a right signature for an offer of another product`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var knowledge = DiagnosisKnowledge(key)
        knowledge.offersByProduct = ["pro": ["other"], "basic": ["offer1"]]
        let diagnosis = try SignedReport().diagnosis(key, knowledge)
        #expect(diagnosis.verdict == .signedCorrectly, "\(diagnosis)")
        #expect(diagnosis.findings == [Diagnosis.Finding(.offerUnknown, .likely)], "\(diagnosis)")
    }

    @Test func `reports an unknown member with the name that was meant`() throws {
        let json = #"{"keyID": "ABC123DEFG", "attached": {"nonces": "x"}, "sku": "pro", "zzz": 1, "signature": "MEUC"}"#
        let report = try SignatureReport(json: Array(json.utf8))
        #expect(
            report.hints == [
                "/keyID: unknown; did you mean keyIdentifier?", "/sku: unknown; did you mean productId?",
                "/zzz: unknown, not read", "/attached/nonces: unknown; did you mean nonce?",
            ]
        )
    }

    @Test func `an undocumented code is not interpreted`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.members["error"] = #"{"domain": "ASDServerErrorDomain", "code": 3903}"#
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.verdict == .signedCorrectly && diagnosis.findings.isEmpty, "\(diagnosis)")
    }

    @Test(arguments: [
        (#"{"environment": "Xcode"}"#, Diagnosis.Verdict.unknownKey, SignatureFault.xcodeEnvironment),
        (#"{"environment": "LocalTesting"}"#, .unknownKey, .xcodeEnvironment),
        (#"{"environment": "Production", "productId": "pro"}"#, .offerNotApplied, .offerNotApplied),
    ])
    func `the transaction shows where the purchase was made, and without the offer`(
        claims: String,
        verdict: Diagnosis.Verdict,
        fault: SignatureFault
    ) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.members["signedTransaction"] = "\"\(try Self.jws("{}", claims, key))\""
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.verdict == verdict && diagnosis.findings.map(\.fault) == [fault], "\(diagnosis)")
    }

    @Test(arguments: [
        ("", "JSON"), ("[]", "a JSON object"), ("{}", "/signature"), (#"{"signature": 5}"#, "/signature"),
        (#"{"signature": "MEUC", "nonce": 5}"#, "/nonce"), (#"{"signature": "MEUC", "attached": 5}"#, "/attached"),
        (#"{"signature": "MEUC", "timestamp": {}}"#, "/timestamp"), (#"{"signature": "MEUC", "error": 5}"#, "/error"),
        (#"{"signature": "MEUC", "attemptedAt": "now"}"#, "/attemptedAt"),
        (#"{"signature": "MEUC", "error": {"domain": 5, "code": 12}}"#, "/error/domain"),
        (#"{"signature": "MEUC", "error": {"code": 12, "underlying": {"domain": "a"}}}"#, "/error/underlying/code"),
        (#"{"signature": "MEUC", "client": 5}"#, "/client"),
        (#"{"signature": "MEUC", "client": {"storeKit": 3}}"#, "/client/storeKit"),
    ])
    func `a report that can't be read is refused with the member and what was expected`(text: String, part: String) {
        let error = #expect(throws: ReportError.self) { try SignatureReport(json: Array(text.utf8)) }
        #expect(error?.description.contains(part) == true, "\(String(describing: error))")
    }

    @Test func `writes a diagnosis as JSON and as lines`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.separator = " "
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        let json = String(decoding: diagnosis.json, as: UTF8.self)
        #expect(
            json.contains(#""verdict":"payload-differs""#) && json.contains(#""code":"separator","certainty":"proved""#)
        )
        let lines = diagnosis.lines.joined(separator: "\n")
        #expect(lines.contains("separator (proved") && lines.contains("U+2063"))
    }
}
