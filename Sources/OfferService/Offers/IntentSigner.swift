// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
package import Ledger
import OfferDomain
import ServiceRuntime

/// Signs what is on record, and verifies some of what it signed before that leaves.
package final class IntentSigner: Sendable {
    private let committer: Committer
    private let seal: Seal
    private let verification: SelfVerification
    private let metrics: Metrics
    private let log: Log

    /// Why what is on record was not signed.
    private enum Failure: Error {
        /// The service was sealed, or the key disabled, between the record and the signature.
        case stopped(KeyStop)
        case failed(SigningError)
        case untrusted

        var reason: String {
            switch self {
            case .stopped(let stop): stop.reason
            case .failed(let error): error.description
            case .untrusted: "the signature did not verify"
            }
        }
    }

    package init(committer: Committer, seal: Seal, verification: SelfVerification, runtime: Runtime) {
        self.committer = committer
        self.seal = seal
        self.verification = verification
        metrics = runtime.metrics
        log = runtime.log
    }

    /// Whether the signatures that are made next, for one request, are to be verified.
    func isVerificationDue() -> Bool { verification.isDue() }

    /// Makes one signature of a grant; a failure is recorded.
    func sign(
        _ intent: SigningIntent,
        of grant: Grant,
        by plan: SigningPlan,
        verifies: Bool
    ) async throws(Refusal) -> ECDSASignature {
        let key = plan.key
        let failure: Failure
        do throws(Failure) {
            let made = try trustedSignature(of: intent.digest, by: key, verifies: verifies)
            metrics.count(.signatures(key: key.id.text, form: intent.form.rawValue))
            return made
        } catch {
            failure = error
        }
        if case .untrusted = failure {
            seal.seal(.selfVerification, detail: "a signature of key \(key.id.text) did not verify")
        }
        let reason = failure.reason
        metrics.count(.signatureFailures(key: key.id.text))
        log(.error, "a signature failed", with: ["key": .text(key.id.text), "reason": .text(reason)])
        let event = AuditEvent.key(
            .signatureFailed(grantID: grant.id, keyID: key.id, form: intent.form, reason: reason)
        )
        do {
            // However long the queue is: the intent is on record already, and only its end is missing.
            try await committer.change { writer throws(LedgerError) in try writer.append(event) }
        } catch {
            throw .service(.auditUnavailable)
        }
        guard case .stopped(let stop) = failure else { throw .service(.signingFailed) }
        throw .service(ServiceFault(stop, plan.listing.purpose))
    }

    /// Signs with the key unless it is stopped; with `verifies`, a signature that does not verify is an error.
    private func trustedSignature(
        of digest: SHA256Digest,
        by key: ActiveKey,
        verifies: Bool
    ) throws(Failure) -> ECDSASignature {
        let used: Result<ECDSASignature?, KeyStop>
        do throws(SigningError) {
            used = try committer.keyUseGuard.use(key.id) { () throws(SigningError) in
                let made = try key.privateKey.signature(of: digest)
                return !verifies || isTrusted(made, of: digest, by: key.privateKey) ? made : nil
            }
        } catch {
            throw .failed(error)
        }
        switch used {
        case .success(let made?): return made
        case .success(nil): throw .untrusted
        case .failure(let stop): throw .stopped(stop)
        }
    }

    /// Verifies a fresh signature; a faulty one would betray the key.
    private func isTrusted(_ signature: ECDSASignature, of digest: SHA256Digest, by key: PrivateKey) -> Bool {
        metrics.count(.selfVerifications)
        return verification.verifies(signature, of: digest, by: key.publicKey)
    }
}
