// SPDX-License-Identifier: Apache-2.0

/// One of the names of a customer, under which the service counts the customer's grants.
///
/// A name that only an app claims (``isClaimed``) has its own namespace. Regardless of its spelling, it never means the
/// same customer as another name until a backend transfers it to a customer.
package enum CustomerIdentity: Hashable, Sendable {
    /// Stated by a backend.
    case customer(CustomerID)
    /// Before the customer logs in, or after logging out; claimed.
    case anonymous(AnonymousID)
    /// Stated by a backend, or shown by data that the App Store signed.
    case appAccountToken(UniqueID)
    /// Stated by a backend.
    case applicationUsername(ApplicationUsername)
    /// What an app wants a purchase to name, without evidence that it is its customer's.
    case claimedAppAccountToken(UniqueID)
    case claimedApplicationUsername(ApplicationUsername)
    case originalTransaction(TransactionID)
    /// The App Store's name for one of its accounts within the app, `appTransactionId`.
    case appTransaction(TransactionID)

    /// The bytes that caps are counted under: ASCII, at most 257.
    ///
    /// Two spellings that could be the same customer give the same bytes. Letters are lowercase. A UUID is in its
    /// 8-4-4-4-12 form, whether it came as a customer ID, a token or a user name, with or without hyphens, braces or
    /// `urn:uuid:`. A transaction ID has no leading zeros. So two customers with IDs that differ only in letter case
    /// share their caps: the service may refuse an offer too many, but never grants one too many. A customer's name
    /// starts with `c:`, a name that is only claimed with `n:`, a transaction with `t:` and an account of the store
    /// with `a:`, so that none can pass for another.
    package var capBytes: [UInt8] {
        var bytes: [UInt8] = []
        appendCapBytes(to: &bytes)
        return bytes
    }

    /// Appends ``capBytes``.
    package func appendCapBytes(to bytes: inout [UInt8]) {
        bytes.append(prefix)
        bytes.append(0x3A)
        switch self {
        case .customer(let id): bytes.append(contentsOf: id.canonicalForCaps)
        case .anonymous(let id): bytes.append(contentsOf: CustomerIdentity.folded(id.text))
        case .applicationUsername(let name), .claimedApplicationUsername(let name):
            bytes.append(contentsOf: CustomerIdentity.folded(name.text))
        case .appAccountToken(let token), .claimedAppAccountToken(let token): token.append(to: &bytes)
        case .originalTransaction(let id), .appTransaction(let id):
            bytes.append(contentsOf: CustomerIdentity.withoutLeadingZeros(id))
        }
    }

    /// `c`, `n`, `t` or `a`.
    private var prefix: UInt8 {
        switch self {
        case .customer, .applicationUsername, .appAccountToken: 0x63
        case .anonymous, .claimedAppAccountToken, .claimedApplicationUsername: 0x6E
        case .originalTransaction: 0x74
        case .appTransaction: 0x61
        }
    }

    /// All the identities that a request names, each once, in the order of the cases.
    package static func known(
        customer: CustomerID?,
        anonymous: AnonymousID? = nil,
        binding: PurchaseBinding,
        originalTransaction: TransactionID?
    ) -> [CustomerIdentity] {
        var identities: [CustomerIdentity] = []
        if let customer { identities.append(.customer(customer)) }
        if let anonymous { identities.append(.anonymous(anonymous)) }
        if let bound = binding.identity { identities.append(bound) }
        if let originalTransaction { identities.append(.originalTransaction(originalTransaction)) }
        return identities
    }

    /// The names that purchases are filed under when a trusted caller names their customer.
    ///
    /// The purchases of a known customer do not belong to every user of that device, so an anonymous ID is then left
    /// out.
    package static func vouchedFor(
        customer: CustomerID?,
        anonymous: AnonymousID?,
        binding: PurchaseBinding
    ) -> [CustomerIdentity] {
        known(
            customer: customer,
            anonymous: customer == nil ? anonymous : nil,
            binding: binding,
            originalTransaction: nil
        )
    }

    /// Whether a request for an offer at Google Play may use this kind of name.
    package var isGivenAtGooglePlay: Bool {
        switch self {
        case .customer, .anonymous: true
        default: false
        }
    }

    /// Whether it is a name that any app may claim, and that proves nothing.
    package var isClaimed: Bool { prefix == 0x6E }

    /// The same name, as a caller that is not trusted claims it.
    package var asClaimed: CustomerIdentity {
        switch self {
        case .appAccountToken(let token): .claimedAppAccountToken(token)
        case .applicationUsername(let name): .claimedApplicationUsername(name)
        default: self
        }
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
        var text: [UInt8] = []
        text.reserveCapacity(36)
        token.append(to: &text)
        return text
    }

    fileprivate static func uniqueID(spelledBy lowercase: ArraySlice<UInt8>) -> UniqueID? {
        var digits = lowercase
        if digits.starts(with: "urn:uuid:".utf8) { digits = digits.dropFirst(9) }
        if digits.first == 0x7B, digits.last == 0x7D { digits = digits.dropFirst().dropLast() }
        if digits.count == 36 { return UniqueID(utf8: digits) }
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

    private static func withoutLeadingZeros(_ id: TransactionID) -> [UInt8] {
        let digits = id.text.utf8.drop { $0 == 0x30 }
        return digits.isEmpty ? [0x30] : Array(digits)
    }
}

extension ApplicationUsername {
    /// Whether it spells a UUID, which the App Store then puts on transactions as it does an account token.
    ///
    /// Source: Apple, [applicationUsername](https://developer.apple.com/documentation/storekit/skmutablepayment/applicationusername).
    package var isUniqueID: Bool { CustomerIdentity.uniqueID(spelledBy: text.utf8.map(\.asciiLowercased)[...]) != nil }
}
