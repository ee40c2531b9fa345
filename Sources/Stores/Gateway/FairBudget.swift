// SPDX-License-Identifier: Apache-2.0
import Ledger

/// How many requests a store allows in any span of the given length.
struct StoreQuota: Hashable, Sendable {
    let requests: Int
    let spanMilliseconds: Int64

    static func perHour(_ requests: Int) -> StoreQuota { StoreQuota(requests: requests, spanMilliseconds: 3_600_000) }
    static func perMinute(_ requests: Int) -> StoreQuota { StoreQuota(requests: requests, spanMilliseconds: 60_000) }

    /// A part of it, 0 to 1; at least one request.
    func share(_ share: Double) -> StoreQuota {
        StoreQuota(requests: max(1, Int(Double(requests) * share)), spanMilliseconds: spanMilliseconds)
    }
}

/// Limits the requests within any span of a quota, and shares them fairly among the takers.
///
/// A bucket holds a tenth of the span's requests and refills steadily with the other nine tenths, so no span exceeds
/// its limit. While the bucket is more than half full, every taker may take. Below that, only a taker with less than an
/// equal share of this minute may. So one caller alone can use everything, and a later one still gets some.
///
/// Pure: the caller passes times, in milliseconds of any clock that does not jump.
struct FairBudget<Taker: Hashable & Sendable>: Sendable {
    enum Verdict: Hashable, Sendable {
        case granted
        /// Not before that time.
        case refused(until: Int64)
    }

    private static var minute: Int64 { 60_000 }

    private let capacity: Double
    private let perMillisecond: Double
    private let spanMilliseconds: Int64
    private var level: Double
    private var filledAt: Int64
    private var minuteNumber: Int64 = -1
    private var takenThisMinute: [Taker: Int] = [:]
    /// What each member of a group has taken.
    private var takenByMember: [Taker: Int] = [:]
    private var heldUntil: Int64?

    /// A full budget.
    init(_ quota: StoreQuota, at now: Int64) {
        capacity = max(1, Double(quota.requests) / 10)
        perMillisecond = max(0, Double(quota.requests) - capacity) / Double(quota.spanMilliseconds)
        spanMilliseconds = quota.spanMilliseconds
        level = capacity
        filledAt = now
    }

    /// Grants nothing before that time, as the store has asked.
    mutating func hold(until time: Int64) {
        heldUntil = max(heldUntil ?? time, time)
    }

    /// The time until which the store has asked us to wait; `nil` if it has not.
    func held(at now: Int64) -> Int64? {
        heldUntil.flatMap { $0 > now ? $0 : nil }
    }

    /// Takes one for a taker, which may be one of many that share the part of a `group`.
    ///
    /// A member has a twentieth of a minute's at most, so that none takes its group's part from the others.
    mutating func take(for member: Taker, of group: Taker? = nil, at now: Int64) -> Verdict {
        let taker = group ?? member
        fill(at: now)
        guard level >= 1 else {
            let wait = perMillisecond > 0 ? ((1 - level) / perMillisecond).rounded(.up) : Double(spanMilliseconds)
            return .refused(until: now + Int64(wait))
        }
        let taken = takenThisMinute[taker] ?? 0
        guard level > capacity / 2 || Double(taken) < share(of: taker) else {
            return .refused(until: (minuteNumber + 1) * Self.minute)
        }
        if group != nil {
            let taken = takenByMember[member] ?? 0
            guard taken < mostOfMember else { return .refused(until: (minuteNumber + 1) * Self.minute) }
            takenByMember[member] = taken + 1
        }
        takenThisMinute[taker] = taken + 1
        level -= 1
        return .granted
    }

    private var mostOfMember: Int { max(4, Int(perMillisecond * Double(Self.minute) / 20)) }

    /// What a taker may have of this minute when there is not enough for all; at least one.
    private func share(of taker: Taker) -> Double {
        let takers = takenThisMinute.count + (takenThisMinute[taker] == nil ? 1 : 0)
        return max(1, perMillisecond * Double(Self.minute) / Double(takers))
    }

    private mutating func fill(at now: Int64) {
        level = min(capacity, level + Double(max(0, now - filledAt)) * perMillisecond)
        filledAt = max(filledAt, now)
        let number = now / Self.minute
        guard number != minuteNumber else { return }
        minuteNumber = number
        takenThisMinute.removeAll(keepingCapacity: true)
        takenByMember.removeAll()
    }
}
