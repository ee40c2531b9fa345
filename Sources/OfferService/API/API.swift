// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import HTTP
import OfferDomain

/// All calls of the service: finds the one that is asked for, and turns every refusal into its problem.
///
/// A class, because the server copies it for each request.
package final class API: Responder {
    private let current: CurrentSnapshot
    private let signatures: SignatureCall
    private let notifications: NotificationCall
    private let authorizations: AuthorizationCall
    private let eligibility: EligibilityCall
    private let googlePlayNotifications: GooglePlayNotificationCall
    private let transactions: TransactionsCall
    private let transfers: TransfersCall
    private let audit: AuditCalls?
    private let operation: OperationCalls
    private let metrics: Metrics
    private let clock: WallClock
    private let random: any RandomSource
    private let log: Log

    package init(
        current: CurrentSnapshot,
        signer: OfferSigner,
        notifications: NotificationReceiver,
        authorizer: OfferAuthorizer,
        previewer: OfferPreviewer,
        googlePlayNotifications: GooglePlayNotificationReceiver? = nil,
        transactions: TransactionsCall,
        transfers: TransfersCall,
        audit: AuditCalls? = nil,
        operation: OperationCalls,
        metrics: Metrics,
        clock: WallClock,
        random: any RandomSource,
        log: Log
    ) {
        self.current = current
        signatures = SignatureCall(signer: signer)
        self.notifications = NotificationCall(receiver: notifications)
        authorizations = AuthorizationCall(authorizer: authorizer)
        eligibility = EligibilityCall(previewer: previewer) { [signer] in signer.showsFindings(to: $0) }
        self.googlePlayNotifications = GooglePlayNotificationCall(receiver: googlePlayNotifications)
        self.transactions = transactions
        self.transfers = transfers
        self.audit = audit
        self.operation = operation
        self.metrics = metrics
        self.clock = clock
        self.random = random
        self.log = log
    }

    package func respond(to request: Request) async -> Response {
        let now = clock.now()
        let requestID = UniqueID.version7(at: now, random.next(), random.next())
        let route = Route(path: request.path)
        let response: Response
        do throws(Refusal) {
            response = try await answer(request, route, requestID, now)
        } catch {
            response = Problem(error).response(requestID: requestID)
        }
        metrics.count(.requests(route: route, status: response.status))
        log(
            response.status >= 500 ? .warning : .debug,
            "request answered",
            [
                "route": .text(route.rawValue), "status": .integer(Int64(response.status)),
                "request": .text("\(requestID)"),
            ]
        )
        return response
    }

    package func turnEnded() {
        signatures.signer.turnEnded()
    }

    private func answer(
        _ request: Request,
        _ route: Route,
        _ requestID: UniqueID,
        _ now: Timestamp
    ) async throws(Refusal) -> Response {
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
        case .introductoryOfferSignature:
            return try await signatures.respond(
                to: request,
                for: .introductoryOffer,
                under: current.value,
                requestID: requestID,
                at: now
            )
        case .eligibility:
            return try await eligibility.respond(to: request, under: current.value, requestID: requestID, at: now)
        case .googlePlayAuthorization:
            return try await authorizations.respond(to: request, under: current.value, requestID: requestID, at: now)
        case .appStoreNotification:
            return try await notifications.respond(to: request, under: current.value, at: now)
        case .googlePlayNotification:
            return try await googlePlayNotifications.respond(to: request, under: current.value, at: now)
        case .transactions: return try await transactions.respond(to: request, under: current.value, at: now)
        case .customerTransfers: return try await transfers.respond(to: request, under: current.value, at: now)
        case .auditEntries, .auditLookups, .auditSummary:
            guard let audit else { throw .request(.notConfigured) }
            return try await audit.respond(to: request, at: route, under: current.value, now)
        case .live: return operation.live()
        case .ready: return operation.ready()
        case .metrics: return operation.metrics()
        case .openAPI: return operation.openAPI()
        case .unknown: throw .request(.noSuchPath)
        }
    }
}
