// SPDX-License-Identifier: Apache-2.0

/// A value out of a list that the store may lengthen at any time: one that we know, or its text as it came.
package enum Reported<Known: StoreCode>: Hashable, Sendable {
    case known(Known)
    /// A value that did not exist when this was written, as the store wrote it; of a number, its decimal digits.
    case unknown(String)

    /// Recognizes the store's text, or keeps it as it is.
    package init(_ storeText: String) {
        let known = Known.allCases.first { $0.storeText == storeText }
        self = known.map(Reported.known) ?? .unknown(storeText)
    }

    /// The value, if it is one that we know.
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
    /// As the App Store writes it; of a number, its decimal digits.
    var storeText: String { get }
}
