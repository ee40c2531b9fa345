// SPDX-License-Identifier: Apache-2.0

/// A value from a list that the store may extend at any time: a known value, or the store's text unchanged.
package enum Reported<Known: StoreCode>: Hashable, Sendable {
    case known(Known)
    /// A value that this version does not know, as the store wrote it; a number is its decimal digits.
    case unknown(String)

    /// Recognizes the store's text, or keeps it as it is.
    package init(_ storeText: String) {
        let known = Known.allCases.first { $0.storeText == storeText }
        self = known.map(Reported.known) ?? .unknown(storeText)
    }

    /// The value, if this version knows it.
    package var known: Known? {
        if case .known(let known) = self { known } else { nil }
    }

    /// As the store writes it, and as the ledger may keep it; `init(_:)` reads it back.
    package var storeText: String {
        switch self {
        case .known(let known): known.storeText
        case .unknown(let text): text
        }
    }
}

/// A value that the store writes as one of a list of texts or numbers.
package protocol StoreCode: Hashable, CaseIterable, Sendable {
    /// As the App Store writes it; a number is its decimal digits.
    var storeText: String { get }
}
