// SPDX-License-Identifier: Apache-2.0

/// Evidence that the store signs again from time to time; the newest copy holds.
///
/// Taking the newest copy is commutative, associative and idempotent because copies have a total order: by the
/// instant of signing, then by contents.
protocol Superseding: Hashable {
    var signedAt: Timestamp { get }
    /// All the contents but `signedAt`, in an order that never changes.
    var contents: [Content] { get }
}

extension Superseding {
    func newer(of other: Self) -> Self {
        if signedAt != other.signedAt { return signedAt > other.signedAt ? self : other }
        if self == other { return self }
        return contents.lexicographicallyPrecedes(other.contents) ? other : self
    }
}

/// A part of the contents; what is absent comes before what is there.
struct Content: Comparable {
    private let bytes: [UInt8]?

    init(_ text: String?) { bytes = text.map { Array($0.utf8) } }

    init(_ bytes: [UInt8]?) { self.bytes = bytes }

    /// Ordered by its digits and not by time: any order will do, as long as it is one.
    init(_ instant: Timestamp?) { self.init(instant.map { String($0.milliseconds) }) }

    init(_ flag: Bool?) { self.init(flag.map { $0 ? "1" : "0" }) }

    static func < (one: Content, other: Content) -> Bool {
        guard let bytes = one.bytes else { return other.bytes != nil }
        return other.bytes.map(bytes.lexicographicallyPrecedes) ?? false
    }
}

extension FactSource {
    /// The order of sources that say the same; the source nearest to the store is the greatest.
    var rank: String {
        switch self {
        case .ledger: "0"
        case .statedByCaller: "1"
        case .signedTransaction: "2"
        case .notification: "3"
        case .storeAPI: "4"
        }
    }
}
