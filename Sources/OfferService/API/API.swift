// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
package import HTTP
import Ledger
import OfferDomain
import ServiceRuntime

/// All calls of the service: routes each request to its call, and turns every refusal into its problem.
///
/// A class, because the server copies it for each request.
package final class API: Responder {
    private let current: CurrentSnapshot
    private let committer: Committer
    private let signatures: SignatureCall
    private let offers: OfferCalls
    private let evidence: EvidenceCalls
    private let records: RecordCalls
    private let stops: StopCalls
    private let operation: OperationCalls
    private let signIn: ConsoleSignInCall
    private let traffic: MinuteCounter<UnauthenticatedTraffic>
    /// The routes for which the log has lately reported a 5xx response to an unauthenticated caller.
    private let loggedUnauthenticated = OnceAMinute<Route>()
    private let metrics: Metrics
    private let clock: WallClock
    private let random: any RandomSource
    private let log: Log
    private let decisions: DecisionLog

    init(
        current: CurrentSnapshot,
        calls: APICalls,
        traffic: MinuteCounter<UnauthenticatedTraffic>,
        committer: Committer,
        runtime: Runtime
    ) {
        self.current = current
        self.committer = committer
        signatures = calls.offers.signatures
        offers = calls.offers
        evidence = calls.evidence
        records = calls.records
        stops = calls.stops
        operation = calls.operation
        signIn = calls.signIn
        self.traffic = traffic
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
        let snapshot = await snapshot(of: request, at: now)
        var response: Response
        do throws(Refusal) {
            response = try await answer(request, match, under: snapshot, requestID: requestID, at: now)
        } catch {
            let problem = Problem(error)
            if error.isOnlyCounted {
                traffic.count(UnauthenticatedTraffic(route: route, problem: problem.name), at: now)
            }
            response = problem.response(at: route, requestID: requestID)
            let caller = try? snapshot.callers.authenticate(request, at: now)
            decisions.refused(error, at: route, to: caller, requestID: requestID, since: now)
        }
        if !request.isOfKnownClient, knows(request, under: snapshot, at: now) { response.isToKnownClient = true }
        metrics.answered(route, status: response.status, microseconds: stopwatch.microseconds)
        log(
            level(of: response, to: request, match, under: snapshot, at: now),
            "request answered",
            with: [
                "route": .text(route.rawValue), "status": .integer(Int64(response.status)),
                "request": .text("\(requestID)"),
            ]
        )
        return response
    }

    /// The log level of a response: a 5xx response to an authenticated caller is a warning.
    ///
    /// Other callers could cause 5xx responses at will and fill the log. So the log reports them once a minute for each
    /// route; the metrics count them all.
    private func level(
        of response: Response,
        to request: Request,
        _ match: RouteMatch,
        under snapshot: Snapshot,
        at now: Timestamp
    ) -> LogLevel {
        guard response.status >= 500 else { return .debug }
        let isReported = knows(request, under: snapshot, at: now) || loggedUnauthenticated.admits(match.route, at: now)
        return isReported ? .warning : .debug
    }

    /// The snapshot in force, with the session that the request brings.
    private func snapshot(of request: Request, at now: Timestamp) async -> Snapshot {
        let snapshot = current.value
        // Most requests have no cookie, and wait for nothing.
        guard request.headers.count(of: "Cookie") > 0,
            let session = await signIn.sessions.presented(by: request, under: snapshot, at: now)
        else { return snapshot }
        return Snapshot(snapshot, presenting: session)
    }

    /// Whether the caller has proved its identity; an app's key does not, because it is public.
    private func knows(_ request: Request, under snapshot: Snapshot, at now: Timestamp) -> Bool {
        guard let caller = try? snapshot.callers.authenticate(request, at: now) else { return false }
        return caller.role != .app
    }

    /// Has the committer take the requests that an event loop submitted in the turn that ends.
    package func turnEnded() { committer.takeWaiting() }

    private func answer(
        _ request: Request,
        _ match: RouteMatch,
        under snapshot: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let route = match.route
        guard route != .unknown else { throw .request(.noSuchPath) }
        guard route.allowedMethods.contains(request.method) else {
            throw .request(.methodNotAllowed(allowed: route.allowedMethods))
        }
        switch route {
        case .promotionalOfferSignature, .promotionalOfferBatch, .introductoryOfferSignature, .eligibility,
            .revenueCatOffers, .qonversionSignature, .appleSampleOffer, .googlePlayAuthorization:
            return try await answer(request, aboutOffers: match, under: snapshot, requestID: requestID, at: now)
        case .appStoreNotification, .googlePlayNotification, .retentionRequest:
            return try await answer(request, ofStore: match, under: snapshot, requestID: requestID, at: now)
        case .transactions, .customerTransfers, .customerAttributes, .appAccountTokens, .appAttestChallenge,
            .appAttestKey:
            return try await answer(request, aboutCustomers: match, under: snapshot, requestID: requestID, at: now)
        case .grant, .events, .eventEndpoints:
            return try await answer(request, ofOutcomes: match, under: snapshot, at: now)
        case .logTile, .auditEntry, .auditEntryProof, .logCheckpoint, .logState, .reconciliation, .auditEntries,
            .auditLookups, .auditSummary, .auditCustomers, .auditNames, .diagnoses:
            return try await answer(request, aboutRecords: match, under: snapshot, at: now)
        case .keys, .disableKey, .enableKey, .seal, .unseal:
            return try await answer(request, aboutStops: match, under: snapshot, now)
        case .live, .ready, .metrics, .openAPI, .problem, .problems, .ownCaller:
            return try answer(request, ofOperation: match, under: snapshot, at: now)
        case .console, .consoleFile, .consoleRedirect, .consoleProviders, .consoleSignIn, .consoleSignedIn,
            .consoleSignOut:
            return try await answer(request, ofConsole: match, under: snapshot, at: now)
        case .unknown: throw .request(.noSuchPath)
        }
    }

    /// The calls that decide about offers.
    private func answer(
        _ request: Request,
        aboutOffers match: RouteMatch,
        under snapshot: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        switch match.route {
        case .promotionalOfferBatch: return try await offers.batches.respond(to: request, under: snapshot, at: now)
        case .promotionalOfferSignature, .introductoryOfferSignature:
            return try await signatures.respond(
                to: request,
                for: match.route == .promotionalOfferSignature ? .promotionalOffer : .introductoryOffer,
                under: snapshot,
                requestID: requestID,
                at: now
            )
        case .eligibility:
            return try await offers.eligibility.respond(to: request, under: snapshot, requestID: requestID, at: now)
        case .googlePlayAuthorization:
            return try await offers.authorizations.respond(to: request, under: snapshot, requestID: requestID, at: now)
        case .revenueCatOffers, .qonversionSignature, .appleSampleOffer:
            return try await offers.compatible.respond(
                to: request,
                match,
                under: snapshot,
                requestID: requestID,
                at: now
            )
        default: throw .request(.noSuchPath)
        }
    }

    /// The calls that read what is on record.
    private func answer(
        _ request: Request,
        aboutRecords match: RouteMatch,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        switch match.route {
        case .logTile, .auditEntry, .auditEntryProof:
            try await records.log.respond(to: request, match, under: snapshot, at: now)
        case .logCheckpoint, .logState:
            try await records.checkpoints.respond(to: request, match.route, under: snapshot, at: now)
        case .reconciliation: try await records.reconciliation.respond(to: request, under: snapshot, at: now)
        case .diagnoses: try await records.diagnoses.respond(to: request, under: snapshot, at: now)
        case .auditEntries, .auditLookups, .auditSummary, .auditCustomers, .auditNames:
            try await records.queries.respond(to: request, at: match.route, under: snapshot, now)
        default: throw .request(.noSuchPath)
        }
    }

    /// The console's files, and the calls with which people sign in to it.
    private func answer(
        _ request: Request,
        ofConsole match: RouteMatch,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        switch match.route {
        case .console, .consoleFile: try ConsoleCall().respond(to: request, file: match.parameters.first ?? [])
        case .consoleRedirect: ConsoleCall.redirect
        case .consoleProviders, .consoleSignIn, .consoleSignedIn, .consoleSignOut:
            try await signIn.respond(to: request, at: match.route, under: snapshot, now)
        default: throw .request(.noSuchPath)
        }
    }

    /// The calls about the service itself.
    private func answer(
        _ request: Request,
        ofOperation match: RouteMatch,
        under snapshot: Snapshot,
        at now: Timestamp
    ) throws(Refusal) -> Response {
        switch match.route {
        case .live: operation.live()
        case .ready: operation.ready()
        case .metrics: operation.metrics()
        case .openAPI: operation.openAPI()
        case .ownCaller: try OwnCallerCall().respond(to: request, under: snapshot, at: now)
        case .problem, .problems: try ProblemPages.response(for: match.parameters.first)
        default: throw .request(.noSuchPath)
        }
    }

    /// The calls that the stores make.
    private func answer(
        _ request: Request,
        ofStore match: RouteMatch,
        under snapshot: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        switch match.route {
        case .appStoreNotification:
            return try await evidence.appStoreNotifications.respond(to: request, under: snapshot, at: now)
        case .googlePlayNotification:
            return try await evidence.googlePlayNotifications.respond(to: request, under: snapshot, at: now)
        case .retentionRequest:
            return try await offers.retention.respond(
                to: request,
                match,
                under: snapshot,
                requestID: requestID,
                at: now
            )
        default: throw .request(.noSuchPath)
        }
    }

    /// The calls about the customers of purchases, and what else is known of customers.
    private func answer(
        _ request: Request,
        aboutCustomers match: RouteMatch,
        under snapshot: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        switch match.route {
        case .transactions: try await evidence.transactions.respond(to: request, under: snapshot, at: now)
        case .customerTransfers: try await evidence.transfers.respond(to: request, under: snapshot, at: now)
        case .appAccountTokens:
            try await evidence.accountTokens.respond(to: request, under: snapshot, requestID: requestID, at: now)
        case .appAttestChallenge: try await offers.appAttest.challenge(request, under: snapshot, at: now)
        case .appAttestKey: try await offers.appAttest.register(request, under: snapshot, at: now)
        case .customerAttributes: try await evidence.attributes.respond(to: request, match, under: snapshot, at: now)
        default: throw .request(.noSuchPath)
        }
    }

    /// The calls about the outcomes of grants, and about the receivers of events.
    private func answer(
        _ request: Request,
        ofOutcomes match: RouteMatch,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        switch match.route {
        case .grant: try await records.grants.respond(to: request, match, under: snapshot, at: now)
        case .events: try await records.events.respond(to: request, under: snapshot, at: now)
        case .eventEndpoints: try await records.eventEndpoints.respond(to: request, under: snapshot, at: now)
        default: throw .request(.noSuchPath)
        }
    }

    /// The calls that seal the service and disable keys.
    private func answer(
        _ request: Request,
        aboutStops match: RouteMatch,
        under snapshot: Snapshot,
        _ now: Timestamp
    ) async throws(Refusal) -> Response {
        switch match.route {
        case .keys: return try await stops.keys.list(request, under: snapshot, at: now)
        case .disableKey, .enableKey:
            return try await stops.keys.set(
                request,
                key: match.parameters.first,
                isDisabled: match.route == .disableKey,
                under: snapshot,
                at: now
            )
        case .seal where request.method == .post: return try await stops.seal.seal(request, under: snapshot, at: now)
        case .seal: return try stops.seal.show(to: request, under: snapshot, at: now)
        case .unseal: return try await stops.seal.unseal(request, under: snapshot, at: now)
        default: throw .request(.noSuchPath)
        }
    }
}
