// SPDX-License-Identifier: Apache-2.0
import JSON

/// What the entries of a stretch of the log come to, hour by hour: uses of keys, decisions, refusals.
package struct LogUsage: Hashable, Sendable {
    /// What is counted.
    package enum Kind: UInt8, Hashable, Sendable {
        /// A key was about to be used; the name is the key's id.
        case key = 1
        /// A request was answered; the name is the offer's id in the catalog, the detail a ``Decision``.
        case decision = 2
        /// A finding decided against a customer; the name is the offer's id, the detail the finding's code.
        case refusal = 3
    }

    /// How a request for an offer ended.
    package enum Decision: String, CaseIterable, Hashable, Sendable {
        case granted, refused, undecided
    }

    /// Something counted within one hour.
    package struct Item: Hashable, Sendable {
        /// Hours since 1970 UTC.
        package let hour: Int64
        /// What is counted; it says what name and detail are.
        package let kind: Kind
        /// A key's ID or an offer's ID in the catalog.
        package let name: String
        /// A ``Decision``, the code of a finding, or empty.
        package let detail: String
    }

    /// How often, and when last, in milliseconds since 1970 UTC.
    package struct Tally: Hashable, Sendable {
        /// How often it happened in the hour.
        package var count: Int64
        /// The time of the last entry that was counted, in milliseconds since 1970 UTC.
        package var lastAt: Int64

        mutating func add(_ other: Tally) {
            count += other.count
            lastAt = max(lastAt, other.lastAt)
        }
    }

    /// Everything that was counted.
    package private(set) var items: [Item: Tally] = [:]

    /// Counts nothing yet.
    package init() {}

    /// Adds to one item.
    package mutating func add(_ tally: Tally, to item: Item) {
        items[item, default: Tally(count: 0, lastAt: .min)].add(tally)
    }
}

/// The hour of an instant, both since 1970 UTC, rounded down.
func hour(of milliseconds: Int64) -> Int64 {
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 3_600_000)
    return remainder < 0 ? quotient - 1 : quotient
}

// MARK: - As it is stored

extension LogUsage {
    /// A JSON array of `[hour, kind, name, detail, count, lastAt]`, in their order.
    package var bytes: [UInt8] {
        let rows = items.sorted { $0.key.order < $1.key.order }.map { item, tally -> JSONTree in
            [
                .integer(item.hour), .integer(Int64(item.kind.rawValue)), .text(item.name), .text(item.detail),
                .integer(tally.count), .integer(tally.lastAt),
            ]
        }
        return JSONTree.array(rows).bytes
    }

    private static let limits = JSONLimits(maximumBytes: 1 << 27, maximumDepth: 2, maximumNodes: 1 << 22)

    /// Reads ``bytes``; nil for anything else.
    package init?(_ bytes: [UInt8]) {
        guard let rows = try? JSONDocument(bytes, limits: Self.limits).root.array else { return nil }
        for row in rows {
            let row = row.array.map(Array.init) ?? []
            guard row.count == 6, let hour = row[0].integer,
                let kind = row[1].integer.flatMap(UInt8.init(exactly:)).flatMap(Kind.init(rawValue:)),
                let name = row[2].string, let detail = row[3].string, let count = row[4].integer,
                let lastAt = row[5].integer
            else { return nil }
            add(Tally(count: count, lastAt: lastAt), to: Item(hour: hour, kind: kind, name: name, detail: detail))
        }
    }
}

extension LogUsage.Item {
    fileprivate var order: (Int64, UInt8, String, String) { (hour, kind.rawValue, name, detail) }
}
