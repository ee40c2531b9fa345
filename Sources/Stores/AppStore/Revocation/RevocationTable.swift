// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// A certificate of a verified chain with its issuer; the two identify an OCSP question.
struct RevocationSubject: Hashable, Sendable {
    let certificate: Certificate
    let issuer: Certificate
    let role: CertificateRole

    /// What is asked about in a chain; the root is ours.
    static func of(_ chain: VerifiedChain) -> [RevocationSubject] {
        [
            RevocationSubject(certificate: chain.leaf, issuer: chain.intermediate, role: .leaf),
            RevocationSubject(certificate: chain.intermediate, issuer: chain.root, role: .intermediate),
        ]
    }
}

/// The records of at most `capacity` certificates, by certificate and issuer; the least recently used makes room.
struct RevocationTable: Sendable {
    private let capacity: Int
    private(set) var records: [RevocationSubject: RevocationRecord] = [:]

    init(capacity: Int) {
        self.capacity = max(2, capacity)
    }

    /// Returns the status of the certificate, and whether the caller must ask its responder.
    mutating func meet(
        _ subject: RevocationSubject,
        at now: Int64,
        unixSeconds: Int64
    ) -> (state: RevocationRecord.State, isToBeAsked: Bool) {
        if records[subject] == nil { makeRoom(at: unixSeconds) }
        var record = records[subject] ?? RevocationRecord(at: now)
        defer { records[subject] = record }
        record.usedAt = now
        let isToBeAsked = record.claim(at: now)
        return (record.state(at: unixSeconds), isToBeAsked)
    }

    mutating func settle(
        _ subject: RevocationSubject,
        _ result: Result<OCSPStatus, OCSPQuestionError>,
        at now: Int64,
        unixSeconds: Int64,
        jitter: UInt64
    ) -> (before: RevocationRecord, after: RevocationRecord)? {
        guard let before = records[subject] else { return nil }
        var after = before
        after.settle(result, at: now, unixSeconds: unixSeconds, jitter: jitter)
        records[subject] = after
        return (before, after)
    }

    /// Returns the certificates with a question that is due, used or not; forgets certificates that have expired.
    mutating func due(at now: Int64, unixSeconds: Int64) -> [RevocationSubject] {
        records = records.filter { unixSeconds < $0.key.certificate.notAfter }
        var due: [RevocationSubject] = []
        for subject in records.keys where records[subject]?.claim(at: now) == true { due.append(subject) }
        return due
    }

    /// Drops revoked certificates last: the monitor would believe a forgotten one again.
    private mutating func makeRoom(at unixSeconds: Int64) {
        guard records.count >= capacity else { return }
        let oldest = records.min { first, second in
            let order = [first, second].map {
                ($0.value.state(at: unixSeconds) == .revoked ? 1 : 0, $0.value.usedAt)
            }
            return order[0] < order[1]
        }
        if let oldest { records[oldest.key] = nil }
    }
}
