// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import SignatureDiagnosis

/// Measures what a diagnosis costs, and tries reports with several mistakes for a false proof.
@main
struct DiagnosisBenchmark {
    static func main() throws {
        try startSecureMemory()
        let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
        try measure()
        try proveNothingFalse(count)
    }

    private static func cpuSeconds() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The slowest of several reports with two mistakes, under what is known of the key.
    private static func measure() throws {
        let (key, stranger) = (try PrivateKey.generate(), try PrivateKey.generate())
        var report = SignedReport()
        report.signed = ["appAccountToken": "undefined", "timestamp": "1795250488"]
        var unknown = DiagnosisKnowledge(pinOf: key)
        unknown.pins = []
        unknown.otherReport = try SignatureReport(json: report.json(key))
        let cases: [(String, PrivateKey, DiagnosisKnowledge)] = [
            ("a known key", key, DiagnosisKnowledge(key)), ("a pin alone", key, DiagnosisKnowledge(pinOf: key)),
            ("two reports of an unknown key", key, unknown),
            ("another key, so that everything is tried", stranger, DiagnosisKnowledge(key)),
        ]
        for (name, signer, knowledge) in cases {
            var slowest = 0.0
            for _ in 0..<10 {
                let start = cpuSeconds()
                _ = try report.diagnosis(signer, knowledge)
                slowest = max(slowest, cpuSeconds() - start)
            }
            print("two mistakes, \(name): \(Int((slowest * 1000).rounded())) ms of CPU at most")
            if slowest > 0.3 {
                print("more than 300 ms")
                exit(1)
            }
        }
    }

    private static func proveNothingFalse(_ count: Int) throws {
        let key = try PrivateKey.generate()
        let knowledge = DiagnosisKnowledge(key)
        var reports = RandomReports(seed: 36)
        var decided = 0
        let start = cpuSeconds()
        for number in 1...max(1, count) {
            let (report, faults) = reports.next()
            let diagnosis = try report.diagnosis(key, knowledge)
            guard RandomReports.isTrue(diagnosis, faults) else {
                print("report \(number) has \(faults.map(\.rawValue)): \(diagnosis)")
                exit(1)
            }
            if diagnosis.isDecided { decided += 1 }
        }
        let seconds = cpuSeconds() - start
        print("\(count) reports with one to four mistakes: \(decided) decided, none of them wrongly, \(Int(seconds)) s of CPU")
    }
}
