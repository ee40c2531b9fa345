// SPDX-License-Identifier: Apache-2.0
import JSON
import Ledger

/// Adds up ``LogUsage`` entry by entry.
///
/// Recent items are kept by their bytes, because they mostly come again; no strings are then made.
struct UsageCounter: Sendable {
    private var counted = LogUsage()
    /// One item for each hash slot.
    private var latest: [LatestUsage?] = Array(repeating: nil, count: 32)
    /// The grant of the entry before; both signatures of one answer are one decision.
    private var lastGrant: [UInt8] = []
    private var hasLastGrant = false

    /// What all entries so far come to.
    var usage: LogUsage {
        var usage = counted
        for case let latest? in latest { usage.add(latest) }
        return usage
    }

    /// Counts nothing, and goes on after an entry of that grant.
    mutating func begin(after entry: IndexedEntry, _ text: Span<UInt8>) {
        hasLastGrant = entry.grant != nil
        if let grant = entry.grant { lastGrant.replaceAll(with: text.extracting(grant.range)) }
    }

    /// Counts the next entry.
    mutating func add(_ entry: IndexedEntry, _ text: Span<UInt8>) {
        let isOfLastGrant = isOfLastGrant(entry, text)
        if !isOfLastGrant { begin(after: entry, text) }
        guard let place = entry.event, let time = entry.time else { return }
        let event = text.extracting(place.range)
        if event.equals(Self.signIntent.span) {
            count(.key, name: entry.key, in: text, at: time)
            guard entry.grant == nil || !isOfLastGrant else { return }
            addDecision(entry.isDenied ? .refused : .granted, of: entry, in: text, at: time)
        } else if event.equals(Self.authorizeIntent.span) {
            addDecision(.granted, of: entry, in: text, at: time)
        } else if event.equals(Self.signDeny.span) || event.equals(Self.authorizeDeny.span) {
            let isUndecided = entry.outcome.map { text.extracting($0.range).equals(Self.undecided.span) } ?? false
            addDecision(isUndecided ? .undecided : .refused, of: entry, in: text, at: time)
        } else if event.equals(Self.storeToken.span) {
            count(.key, name: entry.key, in: text, at: time)
        }
    }

    /// Whether both entries have the same grant, or none.
    private func isOfLastGrant(_ entry: IndexedEntry, _ text: Span<UInt8>) -> Bool {
        guard let grant = entry.grant else { return !hasLastGrant }
        return hasLastGrant && text.extracting(grant.range).equals(lastGrant.span)
    }

    private mutating func addDecision(
        _ decision: LogUsage.Decision,
        of entry: IndexedEntry,
        in text: Span<UInt8>,
        at time: Int64
    ) {
        count(.decision(decision), name: entry.rule, in: text, at: time)
        guard decision != .granted else { return }
        for code in entry.codes { count(.refusal, name: entry.rule, code: code, in: text, at: time) }
        if let fault = entry.fault { count(.refusal, name: entry.rule, code: fault, in: text, at: time) }
    }

    private static let signIntent = Array(AuditEventName.signIntent.rawValue.utf8)
    private static let signDeny = Array(AuditEventName.signDeny.rawValue.utf8)
    private static let authorizeIntent = Array(AuditEventName.authorizeIntent.rawValue.utf8)
    private static let authorizeDeny = Array(AuditEventName.authorizeDeny.rawValue.utf8)
    private static let storeToken = Array(AuditEventName.storeToken.rawValue.utf8)
    private static let undecided = Array(LogUsage.Decision.undecided.rawValue.utf8)

    /// Counts one item; `code` is the code of a refusal, if it is one.
    private mutating func count(
        _ what: LatestUsage.Subject,
        name: IndexedEntry.Place?,
        code: IndexedEntry.Place? = nil,
        in text: Span<UInt8>,
        at time: Int64
    ) {
        guard let name = name.map(\.range) else { return }
        let nameBytes = text.extracting(name)
        let codeBytes = text.extracting(code?.range ?? 0..<0)
        let place = Int((what.number ^ nameBytes.mixed ^ codeBytes.mixed &* 3).mixed >> 59)
        if latest[place]?.addIfSame(what, name: nameBytes, code: codeBytes, at: time) == true { return }
        if let other = latest[place] { counted.add(other) }
        latest[place] = LatestUsage(what, name: nameBytes, code: codeBytes, at: time)
    }
}
