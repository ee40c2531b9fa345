// SPDX-License-Identifier: Apache-2.0
import HTTP

// One function for each topic, which `API` has chosen.

extension API {
    func answer(_ received: ReceivedRequest, at route: OfferRoute) async throws(Refusal) -> Response {
        let (request, snapshot, now) = (received.request, received.snapshot, received.receivedAt)
        switch route {
        case .promotionalOfferSignature, .introductoryOfferSignature:
            return try await calls.offers.signatures.respond(
                to: request,
                for: route == .promotionalOfferSignature ? .promotionalOffer : .introductoryOffer,
                under: snapshot,
                requestID: received.id,
                at: now
            )
        case .promotionalOfferBatch:
            return try await calls.offers.batches.respond(to: request, under: snapshot, at: now)
        case .eligibility:
            return try await calls.offers.eligibility.respond(
                to: request,
                under: snapshot,
                requestID: received.id,
                at: now
            )
        case .googlePlayAuthorization:
            return try await calls.offers.authorizations.respond(
                to: request,
                under: snapshot,
                requestID: received.id,
                at: now
            )
        }
    }

    func answer(_ received: ReceivedRequest, at route: CompatibilityRoute) async throws(Refusal) -> Response {
        try await calls.offers.compatible.respond(to: received, at: route)
    }

    func answer(_ received: ReceivedRequest, at route: StoreRoute) async throws(Refusal) -> Response {
        let (request, snapshot, now) = (received.request, received.snapshot, received.receivedAt)
        switch route {
        case .appStoreNotification:
            return try await calls.evidence.appStoreNotifications.respond(to: request, under: snapshot, at: now)
        case .googlePlayNotification:
            return try await calls.evidence.googlePlayNotifications.respond(to: request, under: snapshot, at: now)
        case .retentionRequest:
            return try await calls.offers.retention.respond(
                to: request,
                received.match,
                under: snapshot,
                requestID: received.id,
                at: now
            )
        }
    }

    func answer(_ received: ReceivedRequest, at route: CustomerRoute) async throws(Refusal) -> Response {
        let (request, snapshot, now) = (received.request, received.snapshot, received.receivedAt)
        switch route {
        case .transactions: return try await calls.evidence.transactions.respond(to: request, under: snapshot, at: now)
        case .transfers: return try await calls.evidence.transfers.respond(to: request, under: snapshot, at: now)
        case .attributes:
            return try await calls.evidence.attributes.respond(to: request, received.match, under: snapshot, at: now)
        case .appAccountTokens:
            return try await calls.evidence.accountTokens.respond(
                to: request,
                under: snapshot,
                requestID: received.id,
                at: now
            )
        case .appAttestChallenge: return try await calls.offers.appAttest.challenge(request, under: snapshot, at: now)
        case .appAttestKey: return try await calls.offers.appAttest.register(request, under: snapshot, at: now)
        }
    }

    func answer(_ received: ReceivedRequest, at route: OutcomeRoute) async throws(Refusal) -> Response {
        let (request, snapshot, now) = (received.request, received.snapshot, received.receivedAt)
        switch route {
        case .grant:
            return try await calls.records.grants.respond(to: request, received.match, under: snapshot, at: now)
        case .events: return try await calls.records.events.respond(to: request, under: snapshot, at: now)
        }
    }

    func answer(_ received: ReceivedRequest, at route: LogRoute) async throws(Refusal) -> Response {
        let (request, snapshot, now) = (received.request, received.snapshot, received.receivedAt)
        let parameter = received.match.parameters.first
        switch route {
        case .tile: return try await calls.records.log.tile(request, path: parameter, under: snapshot, at: now)
        case .entry: return try await calls.records.log.entry(request, index: parameter, under: snapshot, at: now)
        case .entryProof: return try await calls.records.log.proof(request, index: parameter, under: snapshot, at: now)
        case .checkpoint: return try calls.records.checkpoints.checkpoint(request, under: snapshot, at: now)
        case .state: return try await calls.records.checkpoints.log(request, under: snapshot, at: now)
        }
    }

    func answer(_ received: ReceivedRequest, at route: SearchRoute) async throws(Refusal) -> Response {
        let (request, snapshot, now) = (received.request, received.snapshot, received.receivedAt)
        switch route {
        case .entries: return try await calls.records.searches.entries.respond(to: request, under: snapshot, at: now)
        case .lookups: return try await calls.records.searches.lookups.respond(to: request, under: snapshot, at: now)
        case .customers:
            return try await calls.records.searches.customers.respond(to: request, under: snapshot, at: now)
        case .names: return try calls.records.searches.names.respond(to: request, under: snapshot, at: now)
        case .summary: return try await calls.records.searches.summary.respond(to: request, under: snapshot, at: now)
        }
    }

    func answer(_ received: ReceivedRequest, at route: RecordRoute) async throws(Refusal) -> Response {
        let (request, snapshot, now) = (received.request, received.snapshot, received.receivedAt)
        switch route {
        case .reconciliation:
            return try await calls.records.reconciliation.respond(to: request, under: snapshot, at: now)
        case .diagnoses: return try await calls.records.diagnoses.respond(to: request, under: snapshot, at: now)
        case .eventEndpoints:
            return try await calls.records.eventEndpoints.respond(to: request, under: snapshot, at: now)
        }
    }

    func answer(_ received: ReceivedRequest, at route: StopRoute) async throws(Refusal) -> Response {
        let (request, snapshot, now) = (received.request, received.snapshot, received.receivedAt)
        switch route {
        case .keys: return try await calls.stops.keys.list(request, under: snapshot, at: now)
        case .disableKey, .enableKey:
            return try await calls.stops.keys.set(
                request,
                key: received.match.parameters.first,
                isDisabled: route == .disableKey,
                under: snapshot,
                at: now
            )
        case .seal where request.method == .post:
            return try await calls.stops.seal.seal(request, under: snapshot, at: now)
        case .seal: return try calls.stops.seal.show(to: request, under: snapshot, at: now)
        case .unseal: return try await calls.stops.seal.unseal(request, under: snapshot, at: now)
        }
    }

    func answer(_ received: ReceivedRequest, at route: OperationRoute) throws(Refusal) -> Response {
        switch route {
        case .live: calls.operation.live()
        case .ready: calls.operation.ready()
        case .metrics: calls.operation.metrics()
        case .openAPI: calls.operation.openAPI()
        case .ownCaller:
            try OwnCallerCall().respond(to: received.request, under: received.snapshot, at: received.receivedAt)
        case .problem, .problems: try ProblemPages.response(for: received.match.parameters.first)
        }
    }

    func answer(_ received: ReceivedRequest, at route: ConsoleRoute) throws(Refusal) -> Response {
        switch route {
        case .page, .file: try ConsoleCall().respond(to: received.request, file: received.match.parameters.first ?? [])
        case .redirect: ConsoleCall.redirect
        }
    }

    func answer(_ received: ReceivedRequest, at route: SignInRoute) async throws(Refusal) -> Response {
        let (request, snapshot, now) = (received.request, received.snapshot, received.receivedAt)
        switch route {
        case .providers: return ConsoleSignInCall.providers(snapshot)
        case .begin: return await calls.signIn.begin(request, under: snapshot, at: now)
        case .finish: return await calls.signIn.finish(request, under: snapshot, at: now)
        case .signOut: return try await calls.signIn.signOut(under: snapshot, at: now)
        }
    }
}
