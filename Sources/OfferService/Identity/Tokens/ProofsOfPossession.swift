// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import OfferDomain
import ServiceRuntime
import Stores

/// Checks DPoP proofs: that the sender of a token has the key that the token is bound to, and that no proof counts twice.
///
/// Only this process knows its nonces and the used proofs. So it rejects a nonce of another instance, or from before a
/// restart. It accepts a proof without a nonce only if the proof was made after the start, and only if no other
/// instance could have accepted it.
///
/// Source: RFC 9449.
final class ProofsOfPossession: Sendable {
    private struct State {
        var nonce: String
        var earlierNonce: String?
        var nonceMadeAt: Int64
        /// The used proofs of the last two spans, so that each is kept for at least one span.
        var used: Set<[UInt8]> = []
        var usedEarlier: Set<[UInt8]> = []
        /// The number of proofs in `used` for each key.
        var usedOfKey: [SHA256Digest: Int] = [:]
        var spanBeganAt: Int64
    }

    private let uptime: Uptime
    private let startedAt: Timestamp
    private let random: any RandomSource
    private let admitsProofsWithoutNonce: Bool
    private let limits: ProofLimits
    private let state: Guarded<State>

    init(_ runtime: Runtime, isAlone: Bool, limits: ProofLimits) {
        uptime = Uptime(runtime.clock)
        startedAt = runtime.clock.now()
        random = runtime.random
        admitsProofsWithoutNonce = isAlone
        self.limits = limits
        state = Guarded(
            State(
                nonce: Self.nonce(runtime.random),
                nonceMadeAt: uptime.milliseconds,
                spanBeganAt: uptime.milliseconds
            )
        )
    }

    /// What an app puts into its next proof.
    var nonce: String {
        let now = uptime.milliseconds
        return state.withLock { state in
            renew(&state, at: now)
            return state.nonce
        }
    }

    /// Checks the proof of a request with a token; `confirmation` is the thumbprint that the token is bound to.
    func check(
        _ request: Request,
        _ token: ArraySlice<UInt8>,
        confirmation: String?,
        origin: String,
        at now: Timestamp
    ) throws(ProofFault) {
        switch request.headers.count(of: "DPoP") {
        case 0: throw .missing
        case 1: break
        default: throw .repeated
        }
        guard let text = request.headers.only("DPoP") else { throw .form }
        let proof = try TokenProof(text)
        let path = String(decoding: request.path, as: UTF8.self)
        try proof.check(method: request.method.name, url: origin + path, token: token, confirmation: confirmation)
        try checkTime(proof, at: now)
        try use(proof)
    }

    /// The whole seconds until the proofs of the current span no longer count against limits, at least 1.
    var retryAfterSeconds: Int64 {
        let elapsed = uptime.milliseconds - state.withLock(\.spanBeganAt)
        return max(1, (Self.spanMilliseconds - elapsed + 999) / 1000)
    }

    private func checkTime(_ proof: TokenProof, at now: Timestamp) throws(ProofFault) {
        guard let nonce = proof.nonce else {
            guard admitsProofsWithoutNonce else { throw .nonceMissing }
            guard abs(proof.issuedAt - now.milliseconds) <= Self.windowMilliseconds,
                proof.issuedAt >= startedAt.milliseconds - 1000
            else { throw .stale }
            return
        }
        let time = uptime.milliseconds
        let isOurs = state.withLock { state in
            renew(&state, at: time)
            return [state.nonce, state.earlierNonce].contains { $0.map { $0.utf8.elementsEqual(nonce.utf8) } ?? false }
        }
        guard isOurs else { throw .nonceUnknown }
    }

    private func use(_ proof: TokenProof) throws(ProofFault) {
        let key = Array(SHA256.digest(of: proof.thumbprint.bytes + Array(proof.id.utf8)).bytes.prefix(16))
        let now = uptime.milliseconds
        let fault = state.withLock { state -> ProofFault? in
            if now - state.spanBeganAt >= Self.spanMilliseconds {
                let isOld = now - state.spanBeganAt >= 2 * Self.spanMilliseconds
                (state.usedEarlier, state.used) = (isOld ? [] : state.used, [])
                (state.usedOfKey, state.spanBeganAt) = ([:], now)
            }
            guard !state.usedEarlier.contains(key), !state.used.contains(key) else { return .replayed }
            // No proof is dropped early: a proof that cannot be stored is refused.
            let ofKey = state.usedOfKey[proof.thumbprint, default: 0]
            guard ofKey < limits.ofKey else { return .tooManyOfKey }
            guard state.used.count < limits.ofAll else { return .tooMany }
            state.used.insert(key)
            state.usedOfKey[proof.thumbprint] = ofKey + 1
            return nil
        }
        if let fault { throw fault }
    }

    private func renew(_ state: inout State, at now: Int64) {
        let spans = (now - state.nonceMadeAt) / Self.nonceMilliseconds
        guard spans > 0 else { return }
        state.earlierNonce = spans == 1 ? state.nonce : nil
        state.nonce = Self.nonce(random)
        // Not `now`: a nonce is good for two spans, whenever the next request comes.
        state.nonceMadeAt += spans * Self.nonceMilliseconds
    }

    private static func nonce(_ random: any RandomSource) -> String {
        String(decoding: Base64.encodeURL(random.bytes(16)), as: UTF8.self)
    }

    private static let windowMilliseconds: Int64 = 60_000
    /// A nonce is good for one to two of these.
    private static let nonceMilliseconds: Int64 = 300_000
    /// Longer than a nonce is good for.
    private static let spanMilliseconds: Int64 = 660_000
}
