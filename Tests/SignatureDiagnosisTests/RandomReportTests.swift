// SPDX-License-Identifier: Apache-2.0
import Cryptography
import SignatureDiagnosis
import Testing

/// Several mistakes at once; `Benchmarks/diagnosis` tries 100,000 of them.
@Suite struct RandomReportTests {
    @Test(arguments: [false, true])
    func `nothing is proved of a report with several mistakes but what is wrong with it`(byPin: Bool) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        let knowledge = byPin ? DiagnosisKnowledge(pinOf: key) : DiagnosisKnowledge(key)
        var reports = RandomReports(seed: 36)
        var decided = 0
        for _ in 0..<60 {
            let (report, faults) = reports.next()
            let diagnosis = try report.diagnosis(key, knowledge)
            #expect(RandomReports.isTrue(diagnosis, faults), "\(faults): \(diagnosis)")
            if diagnosis.isDecided { decided += 1 }
        }
        #expect(decided > 30)
    }

    @Test func `two mistakes at once are both proved`() throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.signed = ["appAccountToken": "7E3FB204-2A6B-4B2F-9A3C-1B2C3D4E5F60", "timestamp": "1795250488"]
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(Set(diagnosis.findings.map(\.fault)) == [.tokenCase, .timestampUnit], "\(diagnosis)")
    }

    @Test(arguments: ["caf\u{E9}", "cafe\u{301}"])
    func `a user name in the other normal form is found`(name: String) throws {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        var report = SignedReport()
        report.attached["appAccountToken"] = .some(nil)
        report.members["applicationUsername"] = "\"\(name)\""
        report.signed["appAccountToken"] = name.unicodeScalars.count == 4 ? "cafe\u{301}" : "caf\u{E9}"
        let diagnosis = try report.diagnosis(key, DiagnosisKnowledge(key))
        #expect(diagnosis.findings.map(\.fault) == [.usernameForm], "\(diagnosis)")
    }

    @Test func `a large catalog costs no more than the search may`() throws {
        try startSecureMemory()
        var knowledge = DiagnosisKnowledge(try PrivateKey.generate())
        knowledge.productIDs = (0..<2000).map { "product\($0)" }
        knowledge.offerIDs = (0..<2000).map { "offer\($0)" }
        let diagnosis = try SignedReport().diagnosis(try PrivateKey.generate(), knowledge)
        #expect(diagnosis.verdict == .undecided && diagnosis.triedPayloads <= 4096, "\(diagnosis)")
    }
}
