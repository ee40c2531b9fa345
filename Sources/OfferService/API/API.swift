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
    let calls: APICalls
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
        self.calls = calls
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
        let received = ReceivedRequest(
            request: request,
            match: match,
            id: requestID,
            receivedAt: now,
            snapshot: snapshot
        )
        var response: Response
        do throws(Refusal) {
            response = try await answer(received)
        } catch {
            let problem = Problem(error)
            if error.isOnlyCounted {
                traffic.count(UnauthenticatedTraffic(route: route, problem: problem.name), at: now)
            }
            response = problem.response(at: route, requestID: requestID)
            let caller = try? snapshot.callers.authenticate(request, at: now)
            decisions.refused(error, at: route, to: caller, requestID: requestID, since: now)
        }
        if !request.isOfKnownClient, received.isOfKnownCaller { response.isToKnownClient = true }
        metrics.answered(route, status: response.status, microseconds: stopwatch.microseconds)
        log(
            level(of: response, to: received),
            "request answered",
            with: [
                "route": .text(route.path), "status": .integer(Int64(response.status)),
                "request": .text("\(requestID)"),
            ]
        )
        return response
    }

    /// The log level of a response: a 5xx response to an authenticated caller is a warning.
    ///
    /// Other callers could cause 5xx responses at will and fill the log. So the log reports them once a minute for each
    /// route; the metrics count them all.
    private func level(of response: Response, to received: ReceivedRequest) -> LogLevel {
        guard response.status >= 500 else { return .debug }
        let isReported =
            received.isOfKnownCaller || loggedUnauthenticated.admits(received.match.route, at: received.receivedAt)
        return isReported ? .warning : .debug
    }

    /// The snapshot in force, with the session that the request brings.
    private func snapshot(of request: Request, at now: Timestamp) async -> Snapshot {
        let snapshot = current.value
        // Most requests have no cookie, and wait for nothing.
        guard request.headers.count(of: "Cookie") > 0,
            let session = await calls.signIn.sessions.presented(by: request, under: snapshot, at: now)
        else { return snapshot }
        return Snapshot(snapshot, presenting: session)
    }

    /// Has the committer take the requests that an event loop submitted in the turn that ends.
    package func turnEnded() { committer.takeWaiting() }

    /// Has the call of the request's topic answer it; `API+topics` has one function for each topic.
    private func answer(_ received: ReceivedRequest) async throws(Refusal) -> Response {
        let route = received.match.route
        guard route.allowedMethods.contains(received.request.method) || route == .unknown else {
            throw .request(.methodNotAllowed(allowed: route.allowedMethods))
        }
        switch route {
        case .offers(let route): return try await answer(received, at: route)
        case .compatibility(let route): return try await answer(received, at: route)
        case .stores(let route): return try await answer(received, at: route)
        case .customers(let route): return try await answer(received, at: route)
        case .outcomes(let route): return try await answer(received, at: route)
        case .log(let route): return try await answer(received, at: route)
        case .searches(let route): return try await answer(received, at: route)
        case .records(let route): return try await answer(received, at: route)
        case .stops(let route): return try await answer(received, at: route)
        case .operation(let route): return try answer(received, at: route)
        case .console(let route): return try answer(received, at: route)
        case .signIn(let route): return try await answer(received, at: route)
        case .unknown: throw .request(.noSuchPath)
        }
    }
}

extension ReceivedRequest {
    /// Whether the caller has proved its identity; an app's key does not, because it is public.
    fileprivate var isOfKnownCaller: Bool {
        guard let caller = try? snapshot.callers.authenticate(request, at: receivedAt) else { return false }
        return caller.role != .app
    }
}
