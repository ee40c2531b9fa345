// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import ServiceRuntime
import Stores

/// Has the App Store put a customer's account on purchases that were made without it.
///
/// What is asked is on record before the App Store is asked, and what it answered before the caller is.
package struct SetAppAccountToken: Sendable {
    let store: AppStore
    let committer: Committer
    let log: Log

    /// What came of a request.
    struct Answer: Sendable {
        let made: AccountTokenChange.Made
        /// Whether an earlier request with the same idempotency key made the change.
        let isRepeated: Bool
    }

    func set(_ asked: AccountTokenChange.Asked, in context: RequestContext) async throws(Refusal) -> Answer {
        guard let app = context.catalog.apps[asked.bundleID] else { throw .decision(.unknownOffer(.app)) }
        guard let key = context.snapshot.keyRing.activeKey(for: asked.bundleID, purpose: .appStoreServerAPI) else {
            throw .service(.keyUnavailable(.appStoreServerAPI))
        }
        let change = AccountTokenChange(
            asked,
            signing: key.id,
            under: context.snapshot.pseudonyms,
            from: context.origin
        )
        let admission: AccountTokenChange.Ruling
        do { admission = try await committer.admit(change) } catch { throw .service(ServiceFault(error)) }
        switch admission {
        case .made(let made): return Answer(made: made, isRepeated: true)
        case .keyReused: throw .request(.idempotencyKeyReused)
        case .ofOtherCustomer: throw .request(.subscriptionOfOtherCustomer(pointer: "/originalTransactionId"))
        case .stopped(let stop): throw .service(ServiceFault(stop, .appStoreServerAPI))
        case .ask(let environment):
            let asking = AppStoreAsking(
                bundleID: app.bundleID,
                party: context.caller.party,
                environment: environment ?? app.onlyEnvironment
            )
            let answer = await store.setAppAccountToken(asked.appAccountToken, of: asked.originalTransactionID, asking)
            return try await conclude(change, answer, at: context.receivedAt)
        }
    }

    private func conclude(
        _ change: AccountTokenChange,
        _ answer: Result<StoreEnvironment, StoreError>,
        at now: Timestamp
    ) async throws(Refusal) -> Answer {
        let instant: Timestamp
        do { instant = try await committer.conclude(change, answer) } catch { throw .service(ServiceFault(error)) }
        switch answer {
        case .success(let environment): return Answer(made: .init(at: instant, in: environment), isRepeated: false)
        case .failure(let error):
            log.onceAMinute(
                .warning,
                "the App Store did not set an app account token",
                reason: error.label,
                app: change.bundleID.text,
                with: ["detail": .text(error.description)]
            )
            throw Self.refusal(error, change, at: now)
        }
    }

    /// Why the token is not known to be set.
    private static func refusal(_ error: StoreError, _ change: AccountTokenChange, at now: Timestamp) -> Refusal {
        if error.isOfSetUp { return .service(.refusedByStore(.appStore, AppName(change.bundleID))) }
        let seconds = error.retryAfterSeconds(at: now)
        switch error {
        case .notFound(let code):
            return .request(.refusedByStore(.appStore, pointer: "/originalTransactionId", code: code))
        case .rateLimited, .budgetSpent: return .service(.storeLimitReached(retryAfterSeconds: seconds))
        case .cannotSign: return .service(.keyUnavailable(.appStoreServerAPI))
        default:
            guard let code = error.finalCode else { return .service(.changeUnconfirmed(retryAfterSeconds: seconds)) }
            let member = code == invalidToken ? "/appAccountToken" : "/originalTransactionId"
            return .request(.refusedByStore(.appStore, pointer: member, code: code))
        }
    }

    /// Apple's code for a token that is no UUID.
    private static let invalidToken: Int64 = 4_000_183
}
