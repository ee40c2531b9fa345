// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What responders have said of the certificates of verified chains, and what they are to be asked next.
///
/// A value behind a lock, without network and clock: somebody takes the ``questions(at:)``, asks, and brings back the
/// answers. Any thread may call. Only chains under which a signature was verified get in, and so many certificates are
/// kept; the one that was not used for longest goes.
///
/// A certificate counts as revoked as soon as a responder says so. While nobody answers, or says “unknown”, it counts as
/// it did: a responder that is silent, or that somebody silences, stops nothing.
package final class RevocationBook: Sendable {
    private struct Entry {
        let certificate: Certificate
        let issuer: Certificate
        let seenAt: Int64
        var status: OCSPStatus?
        var askAt: Int64
        var failures = 0
        var lastUse: UInt64
    }

    private struct State {
        var entries: [RevocationQuestion.Name: Entry] = [:]
        var uses: UInt64 = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// A book for so many certificates; a chain has two.
    package init(capacity: Int = 64) {
        self.capacity = max(2, capacity)
    }

    /// The one of a verified chain that is known to be revoked.
    ///
    /// A chain that the book does not have is written into it, to be asked about.
    package func revoked(in chain: VerifiedChain, at unixSeconds: Int64) -> CertificateRole? {
        state.withLock { state in
            // Both are looked up, so that both are kept.
            let leaf = isRevoked(chain.leaf, chain.intermediate, &state, at: unixSeconds)
            let intermediate = isRevoked(chain.intermediate, chain.root, &state, at: unixSeconds)
            return intermediate ? .intermediate : leaf ? .leaf : nil
        }
    }

    /// What is to be asked at this instant; who takes the questions is the one to ask them.
    ///
    /// A question that brings no answer comes again after a minute, then after two, four and so on up to an hour. A
    /// certificate that is good is asked about again when half of its answer's time is over, one that is revoked or
    /// unknown after an hour.
    package func questions(at unixSeconds: Int64) -> [RevocationQuestion] {
        let due = state.withLock { state in
            state.entries.filter { $0.value.askAt <= unixSeconds }.map { name, entry in
                state.entries[name]?.failures += 1
                state.entries[name]?.askAt = unixSeconds + Self.delay(afterFailures: entry.failures)
                return (name, entry.certificate, entry.issuer)
            }
        }
        return due.compactMap { name, certificate, issuer in
            guard let request = try? OCSPRequest(for: certificate, issuer: issuer) else { return nil }
            return RevocationQuestion(name: name, request: request)
        }
    }

    /// Writes down what ``OCSPRequest/status(from:at:freshness:)`` made of the answer to a question.
    package func record(_ status: OCSPStatus, for question: RevocationQuestion, at unixSeconds: Int64) {
        state.withLock { state in
            // Nothing happens to one that had to go meanwhile.
            state.entries[question.name]?.failures = 0
            switch status {
            case .good(let end):
                // Half of the time that is left, for the responder may be away when the whole of it is over.
                let pause = min(max((end - unixSeconds) / 2, Self.shortestPause), Self.longestPause)
                state.entries[question.name]?.askAt = unixSeconds + pause
                state.entries[question.name]?.status = status
            case .revoked:
                state.entries[question.name]?.askAt = unixSeconds + Self.longestDelay
                state.entries[question.name]?.status = status
            case .unknown:
                // No news: it does not take back what was said before.
                state.entries[question.name]?.askAt = unixSeconds + Self.longestDelay
            }
        }
    }

    /// How many certificates there are of each kind at an instant.
    package func statistics(at unixSeconds: Int64) -> RevocationStatistics {
        let entries = state.withLock { Array($0.entries.values) }
        var statistics = RevocationStatistics()
        for entry in entries {
            switch entry.status {
            case .good(let end) where unixSeconds < end: statistics.good += 1
            case .revoked: statistics.revoked += 1
            case .good(let end): statistics.addUnanswered(since: end)
            case .unknown, nil: statistics.addUnanswered(since: entry.seenAt)
            }
        }
        return statistics
    }

    private static let shortestPause: Int64 = 60
    private static let longestPause: Int64 = 43_200
    private static let longestDelay: Int64 = 3_600

    private static func delay(afterFailures count: Int) -> Int64 {
        min(shortestPause << Int64(min(count, 10)), longestDelay)
    }

    private func isRevoked(
        _ certificate: Certificate,
        _ issuer: Certificate,
        _ state: inout State,
        at unixSeconds: Int64
    ) -> Bool {
        let name = RevocationQuestion.Name(certificate: certificate.fingerprint, issuer: issuer.fingerprint)
        state.uses += 1
        if let entry = state.entries[name] {
            state.entries[name]?.lastUse = state.uses
            if case .revoked = entry.status { return true }
            return false
        }
        state.entries[name] = Entry(
            certificate: certificate,
            issuer: issuer,
            seenAt: unixSeconds,
            askAt: unixSeconds,
            lastUse: state.uses
        )
        if state.entries.count > capacity, let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            state.entries[oldest.key] = nil
        }
        return false
    }
}

/// A question for a responder, out of a ``RevocationBook``.
package struct RevocationQuestion: Sendable {
    /// A certificate and who issued it; two may share a key and a name.
    struct Name: Hashable, Sendable {
        let certificate: SHA256Digest
        let issuer: SHA256Digest
    }

    let name: Name

    /// What to send, where to, and the reader of what comes back.
    package let request: OCSPRequest
}

/// How many certificates a ``RevocationBook`` knows what of.
package struct RevocationStatistics: Hashable, Sendable {
    /// Good at this instant, as a responder said.
    package var good = 0
    /// Revoked.
    package var revoked = 0
    /// Nothing is known at this instant.
    package var unanswered = 0
    /// Since when nothing is known of one of them, in seconds since 1970 UTC.
    package var unansweredSince: Int64?

    /// No certificates.
    package init() {}

    fileprivate mutating func addUnanswered(since unixSeconds: Int64) {
        unanswered += 1
        unansweredSince = min(unansweredSince ?? unixSeconds, unixSeconds)
    }
}
