// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Stores

/// What is known of one provider's keys; times are readings of one `Uptime`, in milliseconds.
struct ProviderKeysEntry {
    struct Held {
        var set: TokenKeySet
        var readAt: Int64
    }

    /// What reading the keys came to.
    struct Answered: Sendable {
        let answer: ProviderReading.Answer
        let maximumAge: Int64?
        let jwksURL: String
    }

    private(set) var held: Held?
    private(set) var entityTag: [UInt8]?
    /// As the discovery document last said it; providers move their keys.
    private(set) var jwksURL: String?
    var isAsking = false
    /// When they are read next, unasked.
    private(set) var nextAt: Int64 = 0
    private(set) var fault: ProviderFault?
    private var failures = 0
    /// When a token last made the service read the keys.
    private var askedOnDemandAt: Int64?

    /// Keys stay good for a day without an answer.
    func usable(at now: Int64) -> TokenKeySet? {
        held.flatMap { now - $0.readAt < Self.usableMilliseconds ? $0.set : nil }
    }

    /// Whether a token may make the service read the keys: once a minute while there are valid keys, otherwise as often
    /// as the pauses after failures allow.
    mutating func mayAskOnDemand(at now: Int64) -> Bool {
        guard !isAsking else { return false }
        if usable(at: now) == nil { return now >= nextAt }
        if let before = askedOnDemandAt, now - before < Self.onDemandMilliseconds { return false }
        askedOnDemandAt = now
        return true
    }

    mutating func settle(_ outcome: Result<Answered, ProviderFault>, at now: Int64) {
        isAsking = false
        switch outcome {
        case .success(let answered):
            (failures, fault, jwksURL) = (0, nil, answered.jwksURL)
            switch answered.answer {
            case .keys(let set, let tag):
                held = Held(set: set, readAt: now)
                entityTag = tag
            case .unchanged: held?.readAt = now
            }
            nextAt = now + Self.renewalMilliseconds(answered.maximumAge)
        case .failure(let fault):
            self.fault = fault
            // The provider answers, and has revoked all of them.
            if case .keys(.noneUsable) = fault { (held, entityTag) = (nil, nil) }
            failures += 1
            nextAt = now + min(1000 << Int64(min(failures - 1, 4)), Self.longestPauseMilliseconds)
        }
    }

    /// After three quarters of the time that they may be used for, so that they are renewed before that is over.
    private static func renewalMilliseconds(_ maximumAge: Int64?) -> Int64 {
        guard let maximumAge else { return 3_600_000 }
        // Well before ``usableMilliseconds``, so that a provider that is down then has the rest of the day.
        return min(max(maximumAge * 750, 300_000), 21_600_000)
    }

    private static let usableMilliseconds: Int64 = 86_400_000
    private static let onDemandMilliseconds: Int64 = 60_000
    private static let longestPauseMilliseconds: Int64 = 15_000
}
