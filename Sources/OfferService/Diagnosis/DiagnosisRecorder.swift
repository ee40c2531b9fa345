// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import OfferDomain
import ServiceRuntime
import SignatureDiagnosis

/// A diagnosis as it is recorded: nothing in it tells of a customer.
package struct DiagnosisRecord: Hashable, Sendable {
    /// Who asked for the diagnosis.
    package let caller: CallerID
    /// SHA-256 of the signature in DER, in hexadecimal; `nil` if none could be read.
    package let digest: String?
    /// The verdict's name, as the answer has it.
    package let verdict: String
    /// The names of the faults, as the answer has them.
    package let findings: [String]
    /// The app that the report names; `nil` if it names none.
    package let app: BundleID?
}

extension DiagnosisRecord {
    init(_ outcome: DiagnosisJob.Outcome, by caller: CallerID) {
        self.caller = caller
        digest = outcome.digest?.hex
        verdict = outcome.diagnosis.verdict.rawValue
        findings = outcome.diagnosis.findings.map(\.fault.rawValue)
        app = outcome.app
    }
}

/// Records diagnoses; to be called before the answer leaves.
struct DiagnosisRecorder: Sendable {
    let committer: Committer
    let log: Log

    /// When nothing can be recorded, a diagnosis is answered all the same: it may be what explains the trouble.
    func record(_ record: DiagnosisRecord) async {
        do throws(LedgerError) {
            try await committer.append([.signatureDiagnosed(record)])
        } catch {
            log(.warning, "a diagnosis could not be recorded", ["verdict": .text(record.verdict)])
        }
    }
}

extension AuditEntry {
    /// The names in `findings` are out of a closed list.
    static func details(of record: DiagnosisRecord) -> [Member] {
        [
            ("caller", .text(record.caller.text)), ("verdict", .text(record.verdict)),
            ("findings", .list(record.findings.map { .text($0) })),
        ] + (record.app.map { [("bundle", .text($0.text))] } ?? [])
            + (record.digest.map { [("digest", .text($0))] } ?? [])
    }
}

/// How often a caller may have signatures diagnosed: each one takes up to 4,096 verifications.
final class DiagnosisRates: Sendable {
    private let callers: RateLimiter<CallerID>
    private let metrics: Metrics

    init(_ runtime: Runtime) {
        callers = RateLimiter(runtime.clock.stopwatch(), mostKeys: 4096)
        metrics = runtime.metrics
    }

    func admit(_ caller: CallerID) throws(Refusal) {
        guard let wait = callers.take(1, for: caller, .diagnoses) else { return }
        metrics.count(.rateLimited(scope: RateScope.caller.rawValue))
        throw .caller(.rateLimited(.caller, .diagnoses, retryAfterSeconds: (wait + 999_999_999) / 1_000_000_000))
    }
}
