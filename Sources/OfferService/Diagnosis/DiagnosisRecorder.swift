// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Ledger
import OfferDomain
import ServiceRuntime
import SignatureDiagnosis

extension DiagnosisRecord {
    init(_ outcome: DiagnosisJob.Outcome, by caller: CallerID) {
        self.init(
            caller: caller,
            digest: outcome.digest?.hex,
            verdict: outcome.diagnosis.verdict.rawValue,
            findings: outcome.diagnosis.findings.map(\.fault.rawValue),
            app: outcome.app
        )
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
            log(.warning, "a diagnosis could not be recorded", with: ["verdict": .text(record.verdict)])
        }
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
