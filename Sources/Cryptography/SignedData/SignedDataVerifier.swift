// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Verifies what the App Store signs: compact JWS with their certificates in the header, ES256.
///
/// No network and no clock. Any thread may ask. Copies share one cache of chains.
///
/// Sources: RFC 7515, RFC 7518 section 3.4; Apple,
/// [JWSTransaction](https://developer.apple.com/documentation/appstoreserverapi/jwstransaction).
package struct SignedDataVerifier: Sendable {
    /// How many bytes a JWS may have unless its reader says otherwise; one with a transaction has about 6 KiB.
    package static let defaultMaximumBytes = 16_384

    private let anchors: TrustAnchors
    private let cache: ChainCache
    private let counts = SignedDataCounts()

    /// A verifier that trusts these roots, and remembers `cacheCapacity` headers with chains for up to 15 minutes.
    package init(anchors: TrustAnchors, cacheCapacity: Int = 64) {
        self.anchors = anchors
        cache = ChainCache(capacity: cacheCapacity)
    }

    /// Verifies a JWS at an instant, in seconds since 1970 UTC.
    ///
    /// - Parameters:
    ///   - jws: The ASCII text: header, payload and signature in canonical base64url, joined by dots.
    ///   - unixSeconds: The instant at which the certificates must be valid: now. Never take it from the data, which is
    ///     not verified yet: a thief of an expired key could have set it back.
    ///   - maximumBytes: How large the JWS may be. A notification holds other JWS and needs more than they do.
    /// - Returns: The payload and the chain.
    /// - Throws: The first fault that was found.
    package func verify(
        _ jws: [UInt8],
        at unixSeconds: Int64,
        maximumBytes: Int = defaultMaximumBytes
    ) throws(SignedDataError) -> VerifiedSignedData {
        let segments = try JWSSegments(jws, maximumBytes: maximumBytes)
        if let known = cache.entry(for: segments.headerDigest, at: unixSeconds) {
            guard known.key.verifies(segments.signature, of: segments.signedDigest) else { throw .wrongSignature }
            counts.addHit()
            return VerifiedSignedData(payload: segments.payload, chain: known.chain)
        }
        let entry = try newEntry(segments, at: unixSeconds)
        cache.insert(entry, for: segments.headerDigest)
        counts.addMiss()
        return VerifiedSignedData(payload: segments.payload, chain: entry.chain)
    }

    /// Whether the chain in the header of a JWS is remembered, however old that is: a forgery under it costs one
    /// signature check and no path check, since the path is checked again only under a signature that verifies.
    ///
    /// It says nothing of the JWS itself: any sender can copy a header.
    package func remembersChain(of jws: [UInt8], maximumBytes: Int = defaultMaximumBytes) -> Bool {
        guard let segments = try? JWSSegments(jws, maximumBytes: maximumBytes) else { return false }
        return cache.has(segments.headerDigest)
    }

    /// What the verifier has done so far.
    package var statistics: SignedDataStatistics { counts.statistics(rememberedChains: cache.count) }

    private func newEntry(_ segments: JWSSegments, at unixSeconds: Int64) throws(SignedDataError) -> ChainCache.Entry {
        let header = try JWSHeader(segments.header())
        let chain = CertificateChain(leaf: header.leaf, intermediate: header.intermediate)
        let key = try Self.asSignedDataError { () throws(ChainError) in try chain.checkForm(at: unixSeconds) }
        // Before the path, which costs twenty times as much: who only copies certificates gets no further.
        guard key.verifies(segments.signature, of: segments.signedDigest) else { throw .wrongSignature }
        let verified = try Self.asSignedDataError { () throws(ChainError) in
            try chain.verified(against: anchors, at: unixSeconds)
        }
        return ChainCache.Entry(key: key, chain: verified, verifiedAt: unixSeconds)
    }

    private static func asSignedDataError<Result>(
        _ body: () throws(ChainError) -> Result
    ) throws(SignedDataError) -> Result {
        do throws(ChainError) {
            return try body()
        } catch {
            throw .chain(error)
        }
    }
}

/// How often signed data was verified since the start.
package struct SignedDataStatistics: Hashable, Sendable {
    /// Signatures verified with a key that was remembered.
    package let hits: Int
    /// Signatures verified together with their chain.
    package let misses: Int
    /// Headers whose chain is remembered.
    package let rememberedChains: Int

    /// Takes counts that the caller knows.
    package init(hits: Int, misses: Int, rememberedChains: Int) {
        self.hits = hits
        self.misses = misses
        self.rememberedChains = rememberedChains
    }
}

/// Counters that threads share.
private final class SignedDataCounts: Sendable {
    private let hits = Atomic<Int>(0)
    private let misses = Atomic<Int>(0)

    func addHit() { hits.wrappingAdd(1, ordering: .relaxed) }

    func addMiss() { misses.wrappingAdd(1, ordering: .relaxed) }

    func statistics(rememberedChains: Int) -> SignedDataStatistics {
        SignedDataStatistics(
            hits: hits.load(ordering: .relaxed),
            misses: misses.load(ordering: .relaxed),
            rememberedChains: rememberedChains
        )
    }
}
