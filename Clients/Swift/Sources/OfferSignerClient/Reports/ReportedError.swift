// SPDX-License-Identifier: Apache-2.0
import Foundation

#if canImport(StoreKit)
import StoreKit
#endif

/// What StoreKit reported: an error, and those under it.
public struct ReportedError: Encodable, Hashable, Sendable {
    /// One error under another.
    public struct Level: Encodable, Hashable, Sendable {
        public let domain: String
        public let code: Int

        public init(domain: String, code: Int) { (self.domain, self.code) = (domain, code) }
    }

    public let domain: String
    public let code: Int
    /// The case of `Product.PurchaseError` or `StoreKitError`, which have no documented codes.
    public let name: String?
    /// The outermost first; at most three.
    public let underlying: [Level]

    /// The error as the service reads it; texts of the error are left out.
    public init(_ error: any Error) {
        let known = Self.read(error)
        let outer = (known.replacement ?? error) as NSError
        (domain, code, name) = (Self.name(outer.domain), outer.code, known.name)
        var levels: [Level] = []
        var next = known.inner.map { $0 as NSError } ?? outer.underlying
        while let level = next, levels.count < 3 {
            levels.append(Level(domain: Self.name(level.domain), code: level.code))
            next = level.underlying
        }
        underlying = levels
    }

    /// What a domain may have in a report: 1 to 64 letters, digits, dots, hyphens and underscores.
    private static func name(_ domain: String) -> String {
        let kept = domain.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }.prefix(64)
        return kept.isEmpty ? "unknown" : String(kept)
    }

    /// An error of StoreKit 2: the name of its case, the error that says more in its place, and one under it.
    private struct KnownError {
        var name: String?
        var replacement: (any Error)?
        var inner: (any Error)?
    }

    private static func read(_ error: any Error) -> KnownError {
        #if canImport(StoreKit)
        if let error = error as? Product.PurchaseError { return KnownError(name: name(of: error)) }
        switch error as? StoreKitError {
        case .systemError(let error): return KnownError(replacement: error)
        case .networkError(let error): return KnownError(name: "networkError", inner: error)
        case .userCancelled: return KnownError(name: "userCancelled")
        case .notAvailableInStorefront: return KnownError(name: "notAvailableInStorefront")
        case .unknown: return KnownError(name: "unknown")
        default: return KnownError()
        }
        #else
        return KnownError()
        #endif
    }

    #if canImport(StoreKit)
    private static func name(of error: Product.PurchaseError) -> String? {
        switch error {
        case .invalidQuantity: "invalidQuantity"
        case .productUnavailable: "productUnavailable"
        case .purchaseNotAllowed: "purchaseNotAllowed"
        case .ineligibleForOffer: "ineligibleForOffer"
        case .invalidOfferIdentifier: "invalidOfferIdentifier"
        case .invalidOfferPrice: "invalidOfferPrice"
        case .invalidOfferSignature: "invalidOfferSignature"
        case .missingOfferParameters: "missingOfferParameters"
        default: nil
        }
    }
    #endif
}

extension NSError {
    fileprivate var underlying: NSError? { userInfo[NSUnderlyingErrorKey] as? NSError }
}
