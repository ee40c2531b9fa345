// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import Ledger
import OfferDomain
import ServiceRuntime
import Stores

/// What proofs of apps at Google Play are checked with.
struct PlayIntegrityParts: Sendable {
    let google: PlayIntegrityAPI
    let spent: SpentTokens
}

extension GenuineAppChecks {
    /// What a request proves of an app at Google Play by its token.
    ///
    /// As with App Attest, a token that is sent has to be right, and counts once.
    func integrity(
        _ context: RequestContext,
        _ request: Request,
        of packageName: PackageName
    ) async throws(Refusal) -> AppProof {
        let counts = PlayIntegrityToken.fields.map(request.headers.count(of:))
        let app = context.catalog.ledgerName(of: packageName)
        // A caller that may not ask for the app is refused later, and Google is not asked for it.
        guard counts.contains(where: { $0 > 0 }), context.catalog.looksAtProofs(of: packageName),
            context.caller.mayAsk(for: app), let settings = context.catalog.playIntegrity(of: packageName)
        else { return .absent }
        let token = try taken { () throws(PlayIntegrityFault) in
            try PlayIntegrityToken(request, fieldCounts: counts, about: packageName)
        }
        guard !play.spent.isKnown(token.key) else { throw refusal(.playIntegrity(.spent), .token) }
        let answer: IntegrityLookup
        let asking = GooglePlayAsking(packageName: packageName, party: context.caller.party)
        do throws(StoreError) {
            answer = try await play.google.lookUp(token.text, asking, requestsPerDay: settings.requestsPerDay)
        } catch {
            return .unanswered(unanswered(error, of: app, at: context.receivedAt))
        }
        guard case .decoded(let payload) = answer else { throw refusal(.playIntegrity(.token), .token) }
        let proven = try taken { () throws(PlayIntegrityFault) in
            try token.proof(payload, of: app, under: settings, at: context.receivedAt)
        }
        guard try await play.spent.spend(token.key, at: context.receivedAt) else {
            throw refusal(.playIntegrity(.spent), .token)
        }
        count("accepted", .token)
        return .genuine(proven)
    }

    private func taken<Value>(_ body: () throws(PlayIntegrityFault) -> Value) throws(Refusal) -> Value {
        do throws(PlayIntegrityFault) { return try body() } catch { throw refusal(.playIntegrity(error), .token) }
    }

    /// What is answered where a proof is needed, as for every other question that a store does not answer.
    private func unanswered(_ error: StoreError, of app: AppName, at now: Timestamp) -> ServiceFault {
        count(error.label, .token)
        log.onceAMinute(
            .warning,
            "Google could not be asked about an app's proof",
            reason: error.label,
            app: app.text,
            with: ["detail": .text(error.description)]
        )
        if error.isOfSetUp { return .refusedByStore(.googlePlay, app) }
        return .storeUnavailable(retryAfterSeconds: error.retryAfterSeconds(at: now))
    }
}
