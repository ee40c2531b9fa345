// SPDX-License-Identifier: Apache-2.0

/// One of the names under which a customer is known, and under which the customer's grants are counted.
package enum CustomerIdentity: Hashable, Sendable {
    case customer(CustomerID)
    case appAccountToken(UniqueID)
    case applicationUsername(ApplicationUsername)
    case originalTransaction(TransactionID)
    /// The App Store's name for one of its accounts within the app, `appTransactionId`.
    case appTransaction(TransactionID)

    /// The bytes that caps are counted under: ASCII, at most 257.
    ///
    /// Two spellings that could be the same customer give the same bytes: letters are lowercase; a UUID, whether it
    /// came as a customer id, a token or a user name, with or without hyphens, braces or `urn:uuid:`, is its
    /// 8-4-4-4-12 form; a transaction id has no leading zeros. So two customers whose ids differ in nothing but
    /// letter case share their caps, which refuses an offer too many rather than granting one. A customer's name
    /// starts with `c:`, a transaction with `t:` and an account of the store with `a:`, so that none can pass for
    /// another.
    package var capBytes: [UInt8] {
        switch self {
        case .customer(let id): Array("c:".utf8) + id.canonicalForCaps
        case .applicationUsername(let name): Array("c:".utf8) + CustomerIdentity.folded(name.text)
        case .appAccountToken(let token):
            CustomerIdentity.text(of: token, after: "c:")
        case .originalTransaction(let id):
            Array("t:".utf8) + CustomerIdentity.withoutLeadingZeros(id)
        case .appTransaction(let id):
            Array("a:".utf8) + CustomerIdentity.withoutLeadingZeros(id)
        }
    }

    /// All the identities that a request names, each once, in the order of the cases.
    package static func known(
        customer: CustomerID?,
        binding: PurchaseBinding,
        originalTransaction: TransactionID?
    ) -> [CustomerIdentity] {
        var identities: [CustomerIdentity] = []
        if let customer { identities.append(.customer(customer)) }
        switch binding {
        case .none: break
        case .appAccountToken(let token): identities.append(.appAccountToken(token))
        case .applicationUsername(let name): identities.append(.applicationUsername(name))
        }
        if let originalTransaction { identities.append(.originalTransaction(originalTransaction)) }
        return identities
    }

    /// Whether this names a person, and not only one of their subscriptions.
    package var namesCustomer: Bool {
        if case .originalTransaction = self { false } else { true }
    }
}

// MARK: - Folding

extension CustomerIdentity {
    /// The lowercase of `text`, or the 8-4-4-4-12 form if it spells a UUID.
    static func folded(_ text: String) -> [UInt8] {
        let lowercase = text.utf8.map(\.asciiLowercased)
        guard let token = uniqueID(spelledBy: lowercase[...]) else { return lowercase }
        return CustomerIdentity.text(of: token, after: "")
    }

    private static func uniqueID(spelledBy lowercase: ArraySlice<UInt8>) -> UniqueID? {
        var digits = lowercase
        if digits.starts(with: "urn:uuid:".utf8) { digits = digits.dropFirst(9) }
        if digits.first == 0x7B, digits.last == 0x7D { digits = digits.dropFirst().dropLast() }
        if digits.count == 36 { return UniqueID(utf8: Array(digits)) }
        guard digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        var nibble: UInt8?
        for digit in digits {
            guard let value = digit.hexadecimalValue else { return nil }
            if let first = nibble { bytes.append(first << 4 | value) }
            nibble = nibble == nil ? value : nil
        }
        return UniqueID(bytes: bytes)
    }

    private static func text(of token: UniqueID, after prefix: String) -> [UInt8] {
        var bytes = Array(prefix.utf8)
        bytes.reserveCapacity(bytes.count + 36)
        token.append(to: &bytes)
        return bytes
    }

    private static func withoutLeadingZeros(_ id: TransactionID) -> [UInt8] {
        let digits = id.text.utf8.drop { $0 == 0x30 }
        return digits.isEmpty ? [0x30] : Array(digits)
    }
}
