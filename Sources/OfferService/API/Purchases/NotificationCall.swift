// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import Stores

/// `POST /v1/notifications/app-store`.
///
/// Apple proves itself by its signature, and by nothing else: there is no API key.
struct NotificationCall: Sendable {
    let receiver: NotificationReceiver
    let admission: Admission

    /// One string, with room for members that Apple may add.
    private static let limits = JSONLimits(maximumBytes: 65_536, maximumStringBytes: 65_536)

    /// Answers 200 when what the notification tells is durable, the first time and each time after.
    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let signedPayload = try signedPayload(request.body, under: snapshot)
        do throws(NotificationRefusal) {
            _ = try await receiver.receive(
                signedPayload,
                relayed: snapshot.relayedStores.contains(.appStore) ? request.body : nil,
                from: admission.unauthenticated(request),
                under: snapshot.evidence,
                at: now
            )
        } catch {
            switch error {
            case .unacceptable(let fault): throw .signedData(fault, pointer: "/signedPayload")
            case .notExamined: throw .service(.overloaded)
            case .notRecorded(let error): throw .service(ServiceFault(error))
            }
        }
        return Response(status: 200, headers: [("Cache-Control", "no-store")], body: [])
    }

    /// Members that Apple may add to the body are passed over, unlike those that a caller of ours misspells.
    private func signedPayload(_ body: [UInt8], under snapshot: Snapshot) throws(Refusal) -> [UInt8] {
        let document: JSONDocument
        do {
            document = try JSONDocument(body, limits: Self.limits)
        } catch {
            receiver.refuse(.notJSON, under: snapshot.evidence)
            throw .request(.malformedJSON(error))
        }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        if reader.member("signedPayload") == nil, let old = VersionOneNotification(document.root) {
            receiver.refuse(.versionOne(old), under: snapshot.evidence)
            reader.note("signedPayload", Self.versionOne)
            throw .invalid(mismatches)
        }
        let signedPayload = reader.required("signedPayload", "a compact JWS in a string") { $0.stringBytes }
        guard let signedPayload, mismatches.all.isEmpty else {
            receiver.refuse(.withoutPayload, under: snapshot.evidence)
            throw .invalid(mismatches)
        }
        return signedPayload
    }

    private static let versionOne =
        "is missing: this is a notification of version 1, which is not signed; choose version 2 in App Store Connect, under "
        + "App Information, App Store Server Notifications"
}

extension ServiceFault {
    /// The refusal if the store's notification could not be recorded.
    init(_ error: LedgerError) {
        switch error {
        case .overloaded: self = .overloaded
        case .database, .databaseGone, .stopped, .unbuildable, .log, .outdatedSecret: self = .auditUnavailable
        }
    }
}
