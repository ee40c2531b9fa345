// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import Ledger
import OfferDomain

/// The calls below `/compat`: requests by other vendors' SDKs, which are decided, recorded and signed like all others.
///
/// An SDK asks for the signature when it shows an offer. The service counts that signature as used, because the app can
/// give it to StoreKit. See docs/other-sdks.md.
struct CompatibilityCall: Sendable {
    let signer: SignOffer
    let admission: Admission
    let decisions: DecisionLog
    let traffic: MinuteCounter<UnauthenticatedTraffic>

    func respond(to received: ReceivedRequest, at route: CompatibilityRoute) async throws(Refusal) -> Response {
        let (request, snapshot, now) = (received.request, received.snapshot, received.receivedAt)
        let dialect = route.dialect
        let caller = try admission.sdk(request, snapshot.callers, at: now)
        let places = try admission.enter(caller)
        defer { places.leave() }
        let asked = try dialect.read(request, received.match, receivedAt: now)
        let context = RequestContext(id: received.id, receivedAt: now, snapshot: snapshot, caller: caller)
        let signed: SignedOffer
        do throws(Refusal) {
            try demandStoreIdentifier(asked, from: caller, in: snapshot.catalog)
            signed = try await signer.sign(SignatureRequest(asked), in: context)
        } catch {
            decisions.refused(error, asked.offerID.text, in: context)
            let key = snapshot.keyRing.activeKey(for: asked.bundleID, purpose: .promotionalOffer)
            guard let answer = dialect.answer(error, to: asked, keyID: key?.id) else { throw error }
            let route = Route.compatibility(route)
            if error.isOnlyCounted {
                traffic.count(UnauthenticatedTraffic(route: route, problem: Problem(error).name), at: now)
            }
            decisions.refused(error, at: route, to: caller, requestID: received.id, since: now)
            return answer
        }
        decisions.granted(asked.offerID.text, .eligible, in: context)
        return dialect.answer(signed, to: asked)
    }

    /// Refuses the catalog's own id of an offer: the SDK would give it to StoreKit, beside a signature of another.
    ///
    /// What is wrong otherwise, the signer says.
    private func demandStoreIdentifier(
        _ asked: CompatibleRequest,
        from caller: Caller,
        in catalog: Catalog
    ) throws(Refusal) {
        guard caller.mayAsk(for: AppName(asked.bundleID)),
            let offer = try? catalog.offer(asked.offerID, of: asked.productID, in: asked.bundleID)
        else { return }
        guard offer.listing.offerID == asked.offerID else { throw .decision(.unknownOffer(.offer)) }
    }
}
