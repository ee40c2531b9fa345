// SPDX-License-Identifier: Apache-2.0
import Cryptography
import SignatureDiagnosis

/// Reports with several mistakes at once, made at random; the tests and `Benchmarks/diagnosis` share them.
struct RandomReports {
    /// One mistake; two of a group would undo one another.
    struct Mistake: Sendable {
        let fault: SignatureFault
        let group: String
        let change: @Sendable (inout SignedReport) -> Void

        init(_ fault: SignatureFault, _ group: String, _ change: @escaping @Sendable (inout SignedReport) -> Void) {
            (self.fault, self.group, self.change) = (fault, group, change)
        }
    }

    private static let token = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
    private static let nonce = "20fba8a0-2b80-4a7d-a17f-85c1854727f8"

    private static func base64(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes), as: UTF8.self) }

    static let mistakes: [Mistake] = [
        Mistake(.tokenCase, "account") { $0.signed["appAccountToken"] = token.uppercased() },
        Mistake(.tokenForm, "account") { $0.signed["appAccountToken"] = token.replacing("-", with: "") },
        Mistake(.tokenNotSigned, "account") { $0.signed["appAccountToken"] = "" },
        Mistake(.placeholder, "account") { $0.signed["appAccountToken"] = "undefined" },
        Mistake(.nonceCase, "nonce") { $0.signed["nonce"] = nonce.uppercased() },
        Mistake(.nonceForm, "nonce") { $0.signed["nonce"] = nonce.replacing("-", with: "") },
        Mistake(.timestampUnit, "time") { $0.signed["timestamp"] = "1795250488" },
        Mistake(.timestampUnit, "time") { $0.signed["timestamp"] = "1795250488617000" },
        Mistake(.separator, "separator") { $0.separator = "\u{2060}" },
        Mistake(.separator, "separator") { $0.separator = "" },
        Mistake(.separator, "separator") { $0.separator = "\\u2063" },
        Mistake(.fieldOrder, "order") { $0.order = [0, 1, 3, 2, 4, 5, 6] },
        Mistake(.lineEnd, "ending") { $0.ending = "\n" },
        Mistake(.bundleOfOtherApp, "bundle") { $0.signed["bundleId"] = "com.example.other" },
        Mistake(.otherProduct, "product") { $0.signed["productId"] = "basic" },
        Mistake(.otherOffer, "offer") { $0.signed["offerId"] = "Winter offer" },
        Mistake(.hashedTwice, "hashing") { $0.hashing = 2 },
        Mistake(.hashedTwice, "hashing") { $0.hashing = 3 },
        Mistake(.rawSignature, "encoding") { $0.encode = { base64($0.rawRS) } },
        Mistake(.derNotStrict, "encoding") { $0.encode = { base64($0.der + [0]) } },
        Mistake(.base64Twice, "encoding") { $0.encode = { base64(Array(base64($0.der).utf8)) } },
        Mistake(.base64LineBreaks, "encoding") { report in
            report.encode = { signature in
                let text = base64(signature.der)
                return "\(text.prefix(64))\n\(text.dropFirst(64))"
            }
        },
        Mistake(.hexadecimal, "encoding") { report in
            report.encode = { signature in
                signature.der.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            }
        },
    ]

    private var state: UInt64

    /// The same seed gives the same reports.
    init(seed: UInt64) { state = seed }

    /// SplitMix64.
    private mutating func next(below count: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ mixed >> 31) % UInt64(count))
    }

    /// A report with one to four mistakes, and which these are.
    mutating func next() -> (report: SignedReport, faults: [SignatureFault]) {
        var report = SignedReport()
        var faults: [SignatureFault] = []
        var groups: Set<String> = []
        for _ in 0...next(below: 4) {
            let mistake = Self.mistakes[next(below: Self.mistakes.count)]
            guard groups.insert(mistake.group).inserted else { continue }
            mistake.change(&report)
            faults.append(mistake.fault)
        }
        return (report, faults)
    }

    /// Whether a diagnosis proves nothing but what includes a mistake that was really made.
    static func isTrue(_ diagnosis: Diagnosis, _ faults: [SignatureFault]) -> Bool {
        let proved = diagnosis.findings.filter { $0.certainty == .proved }.map(\.fault)
        if diagnosis.verdict == .signedCorrectly { return faults.isEmpty }
        return proved.isEmpty || proved.contains(where: faults.contains)
    }
}
