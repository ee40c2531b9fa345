// SPDX-License-Identifier: Apache-2.0
import HTTP
import Ledger
import OfferDomain
import Stores

/// `POST /v1/notifications/google-play`: what Pub/Sub pushes.
struct GooglePlayNotificationCall: Sendable {
    /// `nil` if the settings do not name the sender of the messages to accept.
    let receiver: GooglePlayNotificationReceiver?

    /// Answers 204 when what the message led to is durable, and also of a message that can never be taken in: every
    /// other status makes Pub/Sub send it again.
    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        guard let receiver else { throw .request(.notConfigured) }
        do throws(GooglePlayNotificationRefusal) {
            _ = try await receiver.receive(request, under: snapshot.evidence, at: now)
        } catch {
            throw Self.refusal(error, at: now)
        }
        return Response(status: 204, headers: [("Cache-Control", "no-store")], body: [])
    }

    private static func refusal(_ error: GooglePlayNotificationRefusal, at now: Timestamp) -> Refusal {
        switch error {
        case .unauthenticated: .caller(.pushUnauthenticated)
        case .keysUnavailable: .service(.storeUnavailable(retryAfterSeconds: nil))
        case .storeSilent(let error):
            .service(
                .storeUnavailable(retryAfterSeconds: error.retryAfter.map { Int(max(1, $0.seconds - now.seconds)) })
            )
        case .notRecorded(let error): .service(ServiceFault(error))
        }
    }
}
