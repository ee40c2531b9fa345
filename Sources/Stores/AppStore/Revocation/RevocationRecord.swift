// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// What is known about one certificate, and when to ask its responder again.
///
/// Pure. `now`, in milliseconds of a clock that does not jump, says when to ask. `unixSeconds`, in seconds since 1970
/// UTC, decides how long an answer is valid.
struct RevocationRecord: Sendable {
    enum State: String, CaseIterable, Hashable, Sendable {
        case good, revoked
        /// No responder has answered yet or recently, or it does not know the certificate.
        case unknown
    }

    private static let longestUse: Int64 = 3_600_000
    private static let shortestUse: Int64 = 60_000
    private static let firstWait: Int64 = 15_000
    private static let longestWait: Int64 = 900_000

    private var status: OCSPStatus?
    private var askAt: Int64
    private var failures = 0
    private var isBeingAsked = false
    /// When the last answer came that was believed.
    private(set) var answeredAt: Int64?
    /// How the last question failed; `nil` if it did not.
    private(set) var failure: String?
    /// When the certificate was last met in a chain.
    var usedAt: Int64

    init(at now: Int64) {
        askAt = now
        usedAt = now
    }

    func state(at unixSeconds: Int64) -> State {
        switch status {
        case .good(let end): unixSeconds < end ? .good : .unknown
        case .revoked: .revoked
        case .unknown, nil: .unknown
        }
    }

    /// Whether the caller must ask now and then call ``settle(_:at:unixSeconds:jitter:)``.
    ///
    /// Only one caller at a time must ask.
    mutating func claim(at now: Int64) -> Bool {
        guard !isBeingAsked, now >= askAt else { return false }
        isBeingAsked = true
        return true
    }

    /// Records the result of a question.
    ///
    /// `revoked` is final, because an attacker between us and a responder could replay an older answer. An answer is
    /// used for half of its time and an hour at most, so that time is left to ask again. After failures the pauses grow
    /// from a quarter of a minute to a quarter of an hour. `jitter`, any number, keeps services from asking in step.
    mutating func settle(
        _ result: Result<OCSPStatus, OCSPQuestionError>,
        at now: Int64,
        unixSeconds: Int64,
        jitter: UInt64
    ) {
        isBeingAsked = false
        if case .revoked = status { return }
        switch result {
        case .success(.unknown(let end)):
            status = .unknown(validUntil: end)
            answeredAt = now
            fail("unknown", at: now, jitter)
        case .success(let answer):
            status = answer
            answeredAt = now
            failure = nil
            failures = 0
            askAt = now + Self.use(of: answer, at: unixSeconds)
        case .failure(let error): fail(error.label, at: now, jitter)
        }
    }

    private mutating func fail(_ label: String, at now: Int64, _ jitter: UInt64) {
        failure = label
        let wait = min(Self.longestWait, Self.firstWait << Int64(min(failures, 10)))
        failures += 1
        askAt = now + wait / 2 + Int64(jitter % UInt64(wait / 2 + 1))
    }

    private static func use(of status: OCSPStatus, at unixSeconds: Int64) -> Int64 {
        switch status {
        case .good(let end): min(longestUse, max(shortestUse, (end - unixSeconds) * 500))
        case .revoked, .unknown: 1 << 60
        }
    }
}
