// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import HTTP
import OfferDomain

/// All calls of the service: finds the one that is asked for, and turns every refusal into its problem.
///
/// A class, because the server copies it for each request.
package final class API: Responder {
    private let current: CurrentSnapshot
    private let signatures: SignatureCall
    private let offers: OfferCalls
    private let evidence: EvidenceCalls
    private let records: RecordCalls
    private let switches: SwitchCalls
    private let operation: OperationCalls
    private let noise: MinuteCounter<Noise>
    /// Of which calls the log has told lately that somebody unknown was answered with a fault of ours.
    private let toldOfStrangers = OnceAMinute<Route>()
    private let metrics: Metrics
    private let clock: WallClock
    private let random: any RandomSource
    private let log: Log
    private let decisions: DecisionLog

    init(
        current: CurrentSnapshot,
        calls: APICalls,
        noise: MinuteCounter<Noise>,
        runtime: Runtime
    ) {
        self.current = current
        signatures = calls.offers.signatures
        offers = calls.offers
        evidence = calls.evidence
        records = calls.records
        switches = calls.switches
        operation = calls.operation
        self.noise = noise
        metrics = runtime.metrics
        clock = runtime.clock
        random = runtime.random
        log = runtime.log
        decisions = calls.offers.signatures.decisions
    }

    /// Answers one request; every refusal becomes its problem, and is counted and logged.
    package func respond(to request: Request) async -> Response {
        let (now, stopwatch) = (clock.now(), clock.stopwatch())
        let requestID = UniqueID.version7(at: now, random.next(), random.next())
        let match = RouteMatch(path: request.path)
        let route = match.route
        var response: Response
        do throws(Refusal) {
            response = try await answer(request, match, requestID, now)
        } catch {
            let problem = Problem(error)
            if error.isNoise { noise.count(Noise(route: route, problem: problem.name), at: now) }
            response = problem.response(at: route, requestID: requestID)
            let caller = try? current.value.callers.authenticate(request, at: now)
            decisions.refused(error, at: route, to: caller, requestID: requestID, since: now)
        }
        if !request.isOfKnownClient, knows(request, at: now) { response.isToKnownClient = true }
        metrics.answered(route, status: response.status, microseconds: stopwatch.microseconds)
        log(
            level(of: response, to: request, route, at: now),
            "request answered",
            [
                "route": .text(route.rawValue), "status": .integer(Int64(response.status)),
                "request": .text("\(requestID)"),
            ]
        )
        return response
    }

    /// How loudly the log tells of an answer: a fault of ours is a warning where the caller has proved who it is.
    ///
    /// Others can be answered with one as often as they like, so of each call they are told of once a minute, or they could
    /// fill the log; the metrics count them all.
    private func level(of response: Response, to request: Request, _ route: Route, at now: Timestamp) -> LogLevel {
        guard response.status >= 500 else { return .debug }
        return knows(request, at: now) || toldOfStrangers.admits(route, at: now) ? .warning : .debug
    }

    /// Whether the request is of a caller who has proved who it is; an app's key is known to everyone.
    private func knows(_ request: Request, at now: Timestamp) -> Bool {
        guard let caller = try? current.value.callers.authenticate(request, at: now) else { return false }
        return caller.role != .app
    }

    /// Has the committer take the requests that an event loop has handed over in the turn that ends.
    package func turnEnded() {
        signatures.signer.turnEnded()
    }

    private func answer(
        _ request: Request,
        _ match: RouteMatch,
        _ requestID: UniqueID,
        _ now: Timestamp
    ) async throws(Refusal) -> Response {
        let route = match.route
        guard route != .unknown else { throw .request(.noSuchPath) }
        guard route.allowedMethods.contains(request.method) else {
            throw .request(.methodNotAllowed(allowed: route.allowedMethods))
        }
        switch route {
        case .promotionalOfferSignature:
            return try await signatures.respond(
                to: request,
                for: .promotionalOffer,
                under: current.value,
                requestID: requestID,
                at: now
            )
        case .promotionalOfferBatch: return try await offers.batches.respond(to: request, under: current.value, at: now)
        case .introductoryOfferSignature:
            return try await signatures.respond(
                to: request,
                for: .introductoryOffer,
                under: current.value,
                requestID: requestID,
                at: now
            )
        case .eligibility:
            return try await offers.eligibility.respond(
                to: request,
                under: current.value,
                requestID: requestID,
                at: now
            )
        case .revenueCatOffers, .qonversionSignature, .appleSampleOffer:
            return try await offers.compatible.respond(
                to: request,
                match,
                under: current.value,
                requestID: requestID,
                at: now
            )
        case .googlePlayAuthorization:
            return try await offers.authorizations.respond(
                to: request,
                under: current.value,
                requestID: requestID,
                at: now
            )
        case .appStoreNotification, .googlePlayNotification, .retentionRequest:
            return try await answer(request, ofStore: match, requestID: requestID, at: now)
        case .transactions, .customerTransfers, .customerAttributes, .appAccountTokens, .appAttestChallenge,
            .appAttestKey:
            return try await answer(request, aboutCustomers: match, requestID: requestID, at: now)
        case .grant, .events, .eventEndpoints: return try await answer(request, ofOutcomes: match, at: now)
        case .logTile, .auditEntry, .auditEntryProof:
            return try await records.log.respond(to: request, match, under: current.value, at: now)
        case .logCheckpoint, .logState:
            return try await records.checkpoints.respond(to: request, route, under: current.value, at: now)
        case .keys, .disableKey, .enableKey, .seal, .unseal:
            return try await answer(request, switching: match, now)
        case .reconciliation:
            return try await records.reconciliation.respond(to: request, under: current.value, at: now)
        case .auditEntries, .auditLookups, .auditSummary, .auditCustomers, .auditNames:
            return try await records.queries.respond(to: request, at: route, under: current.value, now)
        case .diagnoses: return try await records.diagnoses.respond(to: request, under: current.value, at: now)
        case .live: return operation.live()
        case .ready: return operation.ready()
        case .metrics: return operation.metrics()
        case .openAPI: return operation.openAPI()
        case .problem, .problems: return try ProblemPages.response(for: match.parameters.first)
        case .ownCaller: return try OwnCallerCall().respond(to: request, under: current.value, at: now)
        case .console, .consoleFile: return try ConsoleCall().respond(to: request, file: match.parameters.first ?? [])
        case .consoleDoor: return ConsoleCall.redirect
        case .unknown: throw .request(.noSuchPath)
        }
    }

    /// The calls that the stores make.
    private func answer(
        _ request: Request,
        ofStore match: RouteMatch,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let snapshot = current.value
        switch match.route {
        case .appStoreNotification:
            return try await evidence.appStoreNotifications.respond(to: request, under: snapshot, at: now)
        case .googlePlayNotification:
            return try await evidence.googlePlayNotifications.respond(to: request, under: snapshot, at: now)
        default:
            return try await offers.retention.respond(
                to: request,
                match,
                under: snapshot,
                requestID: requestID,
                at: now
            )
        }
    }

    /// The calls about the customers of purchases, and what else is known of customers.
    private func answer(
        _ request: Request,
        aboutCustomers match: RouteMatch,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let snapshot = current.value
        return switch match.route {
        case .transactions: try await evidence.transactions.respond(to: request, under: snapshot, at: now)
        case .customerTransfers: try await evidence.transfers.respond(to: request, under: snapshot, at: now)
        case .appAccountTokens:
            try await evidence.accountTokens.respond(to: request, under: snapshot, requestID: requestID, at: now)
        case .appAttestChallenge: try await offers.appAttest.challenge(request, under: snapshot, at: now)
        case .appAttestKey: try await offers.appAttest.register(request, under: snapshot, at: now)
        default: try await evidence.attributes.respond(to: request, match, under: snapshot, at: now)
        }
    }

    /// The calls about the outcomes of grants, and about the receivers of events.
    private func answer(
        _ request: Request,
        ofOutcomes match: RouteMatch,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let snapshot = current.value
        return switch match.route {
        case .grant: try await records.grants.respond(to: request, match, under: snapshot, at: now)
        case .events: try await records.events.respond(to: request, under: snapshot, at: now)
        default: try await records.eventEndpoints.respond(to: request, under: snapshot, at: now)
        }
    }

    /// The calls about what is switched off.
    private func answer(
        _ request: Request,
        switching match: RouteMatch,
        _ now: Timestamp
    ) async throws(Refusal) -> Response {
        let snapshot = current.value
        switch match.route {
        case .keys: return try await switches.keys.list(request, under: snapshot, at: now)
        case .disableKey, .enableKey:
            return try await switches.keys.set(
                request,
                key: match.parameters.first,
                isDisabled: match.route == .disableKey,
                under: snapshot,
                at: now
            )
        case .seal where request.method == .post: return try await switches.seal.seal(request, under: snapshot, at: now)
        case .seal: return try switches.seal.show(to: request, under: snapshot, at: now)
        case .unseal: return try await switches.seal.unseal(request, under: snapshot, at: now)
        default: throw .request(.noSuchPath)
        }
    }
}
