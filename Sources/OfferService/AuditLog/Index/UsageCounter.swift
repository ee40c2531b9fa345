// SPDX-License-Identifier: Apache-2.0
import JSON

/// Adds up ``LogUsage`` entry by entry.
///
/// What was counted lately is kept by its bytes, since it mostly is what comes next: then nothing is turned into strings.
struct UsageCounter: Sendable {
    private var counted = LogUsage()
    /// At each place one of the items whose bytes lead to it.
    private var latest: [Latest?] = Array(repeating: nil, count: 32)
    /// The grant of the entry before; both signatures of one answer are one decision.
    private var lastGrant: [UInt8] = []
    private var hasLastGrant = false

    fileprivate struct Latest: Sendable {
        let hour: Int64
        let kind: LogUsage.Kind
        let name: [UInt8]
        let detail: [UInt8]
        var tally: LogUsage.Tally
    }

    /// What all entries so far come to.
    var usage: LogUsage {
        var usage = counted
        for case let latest? in latest { usage.add(latest) }
        return usage
    }

    /// Counts nothing, and goes on after an entry of that grant.
    mutating func begin(after entry: IndexedEntry, _ text: Span<UInt8>) {
        lastGrant.removeAll(keepingCapacity: true)
        hasLastGrant = entry.grant != nil
        guard let grant = entry.grant else { return }
        for place in grant.start..<grant.end { lastGrant.append(text[place]) }
    }

    /// Counts the next entry.
    mutating func add(_ entry: IndexedEntry, _ text: Span<UInt8>) {
        defer { if !isOfLastGrant(entry, text) { begin(after: entry, text) } }
        guard let event = entry.event, let time = entry.time else { return }
        if text.equals(Self.signIntent, at: event) {
            count(.key, entry.key, [], text, at: time)
            guard entry.grant == nil || !isOfLastGrant(entry, text) else { return }
            addDecision(entry, entry.isDenied ? .refused : .granted, text, at: time)
        } else if text.equals(Self.authorizeIntent, at: event) {
            addDecision(entry, .granted, text, at: time)
        } else if text.equals(Self.signDeny, at: event) || text.equals(Self.authorizeDeny, at: event) {
            let isUndecided = entry.outcome.map { text.equals(Self.undecided, at: $0) } ?? false
            addDecision(entry, isUndecided ? .undecided : .refused, text, at: time)
        } else if text.equals(Self.storeToken, at: event) {
            count(.key, entry.key, [], text, at: time)
        }
    }

    /// Whether both entries have the same grant, or none.
    private func isOfLastGrant(_ entry: IndexedEntry, _ text: Span<UInt8>) -> Bool {
        guard let grant = entry.grant else { return !hasLastGrant }
        return hasLastGrant && text.equals(lastGrant, at: grant)
    }

    private mutating func addDecision(
        _ entry: IndexedEntry,
        _ decision: LogUsage.Decision,
        _ text: Span<UInt8>,
        at time: Int64
    ) {
        let detail =
            switch decision {
            case .granted: Self.granted
            case .refused: Self.refused
            case .undecided: Self.undecided
            }
        count(.decision, entry.rule, detail, text, at: time)
        guard decision != .granted else { return }
        for code in entry.codes { count(.refusal, entry.rule, text.bytes(at: code), text, at: time) }
        if let fault = entry.fault { count(.refusal, entry.rule, text.bytes(at: fault), text, at: time) }
    }

    private static let signIntent = Array(AuditEventName.signIntent.rawValue.utf8)
    private static let signDeny = Array(AuditEventName.signDeny.rawValue.utf8)
    private static let authorizeIntent = Array(AuditEventName.authorizeIntent.rawValue.utf8)
    private static let authorizeDeny = Array(AuditEventName.authorizeDeny.rawValue.utf8)
    private static let storeToken = Array(AuditEventName.storeToken.rawValue.utf8)
    private static let granted = Array(LogUsage.Decision.granted.rawValue.utf8)
    private static let refused = Array(LogUsage.Decision.refused.rawValue.utf8)
    private static let undecided = Array(LogUsage.Decision.undecided.rawValue.utf8)

    private mutating func count(
        _ kind: LogUsage.Kind,
        _ name: IndexedEntry.Place?,
        _ detail: [UInt8],
        _ text: Span<UInt8>,
        at time: Int64
    ) {
        guard let name else { return }
        let hour = hour(of: time)
        let place = Self.place(kind, name, detail, text)
        if let known = latest[place], known.hour == hour, known.kind == kind, known.detail == detail,
            text.equals(known.name, at: name)
        {
            latest[place]?.tally.add(LogUsage.Tally(count: 1, lastAt: time))
            return
        }
        if let other = latest[place] { counted.add(other) }
        latest[place] = Latest(
            hour: hour,
            kind: kind,
            name: text.bytes(at: name),
            detail: detail,
            tally: LogUsage.Tally(count: 1, lastAt: time)
        )
    }

    private static func place(
        _ kind: LogUsage.Kind,
        _ name: IndexedEntry.Place,
        _ detail: [UInt8],
        _ text: Span<UInt8>
    ) -> Int {
        var hash = UInt32(kind.rawValue)
        for place in name.start..<name.end { hash = 31 &* hash &+ UInt32(text[place]) }
        for byte in detail { hash = 31 &* hash &+ UInt32(byte) }
        return Int((hash &* 0x9E37_79B9) >> 27)
    }
}

extension LogUsage {
    fileprivate mutating func add(_ latest: UsageCounter.Latest) {
        let item = Item(
            hour: latest.hour,
            kind: latest.kind,
            name: String(decoding: latest.name, as: UTF8.self),
            detail: String(decoding: latest.detail, as: UTF8.self)
        )
        add(latest.tally, to: item)
    }
}

extension Span<UInt8> {
    fileprivate func equals(_ bytes: [UInt8], at place: IndexedEntry.Place) -> Bool {
        guard place.end - place.start == bytes.count else { return false }
        for offset in bytes.indices where self[place.start + offset] != bytes[offset] { return false }
        return true
    }

    fileprivate func bytes(at place: IndexedEntry.Place) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(place.end - place.start)
        for offset in place.start..<place.end { bytes.append(self[offset]) }
        return bytes
    }
}
