// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
package import HTTP
import OfferDomain
package import ServiceRuntime

/// Knows which certificates of verified chains have been revoked; asks their OCSP responders in the background.
///
/// No caller waits for a responder. It gets the known status, and the monitor requests an unknown one.
package final class RevocationMonitor: Sendable {
    private struct State {
        var table: RevocationTable
        var renewal: Task<Void, Never>?
        var isStopped = false
    }

    private let policy: RevocationCheck
    private let transport: any Transport
    private let clock: WallClock
    private let uptime: Uptime
    private let random: any RandomSource
    private let pause: Pause
    private let metrics: any StoreMetrics
    private let log: Log
    private let state: Guarded<State>

    /// Creates a monitor for `background` or `required` that holds at most `capacity` certificates.
    ///
    /// Its transport must allow plain HTTP. It must have its own limits, as certificates name the hosts that it calls.
    /// The monitor pauses between its checks for answers to renew.
    package init(
        _ check: RevocationCheck,
        transport: any Transport,
        runtime: StoreRuntime,
        pause: Pause = .system,
        capacity: Int = 64
    ) {
        policy = check
        self.transport = transport
        clock = runtime.clock
        uptime = Uptime(runtime.clock)
        random = runtime.random
        self.pause = pause
        metrics = runtime.metrics
        log = runtime.log
        state = Guarded(State(table: RevocationTable(capacity: capacity)))
    }

    /// Starts to renew answers before they expire, even if their certificates do not appear again meanwhile.
    package func start() {
        let pause = pause
        let renewal = Task { [weak self] in
            while !Task.isCancelled {
                await pause(milliseconds: 15_000)
                self?.renew()
            }
        }
        state.withLock { $0.renewal = renewal }
    }

    /// Stops asking responders; questions in flight end with their transport.
    package func stop() {
        let renewal = state.withLock { state in
            state.isStopped = true
            return state.renewal
        }
        renewal?.cancel()
    }

    /// Refuses a chain with a revoked certificate or, if `required`, with a certificate that is not known to be good.
    ///
    /// The chain must have verified a signature, because its responders are asked.
    ///
    /// - Throws: `SignedDataError.chain` with `revoked`, or `SignedDataError.revocationUnknown`.
    package func check(_ chain: VerifiedChain, at unixSeconds: Int64) throws(SignedDataError) {
        let now = uptime.milliseconds
        let subjects = RevocationSubject.of(chain)
        let (states, due) = state.withLock { state in
            let met = subjects.map { state.table.meet($0, at: now, unixSeconds: unixSeconds) }
            return (met.map(\.state), zip(subjects, met).filter(\.1.isToBeAsked).map(\.0))
        }
        for subject in due { begin(subject) }
        if let revoked = states.firstIndex(of: .revoked) { throw .chain(.revoked(subjects[revoked].role)) }
        if policy == .required && states.contains(.unknown) { throw .revocationUnknown }
    }

    /// Asks again where it is time to.
    func renew() {
        let now = uptime.milliseconds
        let unixSeconds = clock.now().seconds
        for subject in state.withLock({ $0.table.due(at: now, unixSeconds: unixSeconds) }) { begin(subject) }
    }

    private func begin(_ subject: RevocationSubject) {
        guard !state.withLock({ $0.isStopped }) else { return }
        let question = OCSPQuestion(
            certificate: subject.certificate,
            issuer: subject.issuer,
            nonce: random.bytes(16)
        )
        Task { [self] in settle(subject, await question.ask(transport, clock)) }
    }

    private func settle(_ subject: RevocationSubject, _ result: Result<OCSPStatus, OCSPQuestionError>) {
        // The counter follows last: by then the result is in force and logged.
        defer { metrics.count(.ocspQuestions(certificate: subject.role.rawValue, outcome: Self.outcome(result))) }
        let (now, unixSeconds, jitter) = (uptime.milliseconds, clock.now().seconds, random.next())
        let change = state.withLock {
            $0.table.settle(subject, result, at: now, unixSeconds: unixSeconds, jitter: jitter)
        }
        guard let (before, after) = change else { return }
        if after.state(at: unixSeconds) == .revoked {
            guard before.state(at: unixSeconds) != .revoked else { return }
            logChange(.error, "a certificate has been revoked; what is signed under it is refused", of: subject)
        } else if let failure = after.failure {
            guard before.failure != failure else { return }
            logChange(
                .warning,
                "an OCSP responder does not say whether a certificate is good",
                of: subject,
                reason: failure
            )
        } else if before.failure != nil {
            logChange(.info, "an OCSP responder answers again", of: subject)
        }
    }

    private func logChange(
        _ level: LogLevel,
        _ message: StaticString,
        of subject: RevocationSubject,
        reason: String = ""
    ) {
        let (role, name) = (subject.role.rawValue, subject.certificate.fingerprint.hex)
        log(level, message, with: ["certificate": .text(role), "sha256": .text(name), "reason": .text(reason)])
    }

    private static func outcome(_ result: Result<OCSPStatus, OCSPQuestionError>) -> String {
        switch result {
        case .success(.good): "good"
        case .success(.revoked): "revoked"
        case .success(.unknown): "unknown"
        case .failure(let error): error.label
        }
    }
}

extension RevocationMonitor {
    private var records: [RevocationSubject: RevocationRecord] { state.withLock { $0.table.records } }

    /// Problems that the operator should know about; none of them stops the service.
    package var warnings: [Obstacle] {
        let unixSeconds = clock.now().seconds
        return records.compactMap { subject, record -> Obstacle? in
            let name = "the \(subject.role.rawValue) certificate sha256:\(subject.certificate.fingerprint.hex)"
            switch record.state(at: unixSeconds) {
            case .good: return nil
            case .revoked:
                return Obstacle("certificate-revoked", "\(name) has been revoked; what is signed under it is refused")
            case .unknown:
                guard let failure = record.failure else { return nil }
                let consequence = policy == .required ? "is refused until it does" : "is believed without that"
                let what = "what is signed under it \(consequence)"
                return Obstacle(
                    "revocation-unknown",
                    "no OCSP responder says that \(name) is good (\(failure)); \(what)"
                )
            }
        }.sorted { $0.detail < $1.detail }
    }

    /// The number of certificates by status, and the age of the answers.
    package var gauges: [Gauge] {
        let (now, unixSeconds) = (uptime.milliseconds, clock.now().seconds)
        let records = records
        let states = [CertificateRole.leaf, .intermediate].flatMap { role in
            RevocationRecord.State.allCases.map { state in
                let count = records.count { $0.key.role == role && $0.value.state(at: unixSeconds) == state }
                return Gauge.Sample(
                    Double(count),
                    labels: [("certificate", role.rawValue), ("state", state.rawValue)]
                )
            }
        }
        let ages = records.compactMap { subject, record in
            record.answeredAt.map { answeredAt in
                Gauge.Sample(
                    Double((now - answeredAt) / 1000),
                    labels: [
                        ("certificate", subject.role.rawValue), ("sha256", subject.certificate.fingerprint.hex),
                    ]
                )
            }
        }
        return [
            Gauge(
                "offer_signer_revocation_certificates",
                help: "Certificates of the App Store's chains, by what OCSP responders say of them",
                states
            ),
            Gauge(
                "offer_signer_revocation_answer_age_seconds",
                help: "Time since an OCSP responder last answered about a certificate",
                ages
            ),
        ]
    }
}
