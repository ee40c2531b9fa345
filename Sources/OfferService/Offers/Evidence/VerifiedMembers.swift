// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import OfferDomain
import Stores

/// What a request sends along that the App Store signed, verified.
struct VerifiedMembers: Sendable {
    let evidence: SubscriptionEvidence
    /// Of a request for an introductory offer; it names its account.
    let appTransaction: AppTransaction?

    /// Nothing is sent along.
    static let none = VerifiedMembers(evidence: SubscriptionEvidence(source: .signedTransaction))

    init(evidence: SubscriptionEvidence, appTransaction: AppTransaction? = nil) {
        (self.evidence, self.appTransaction) = (evidence, appTransaction)
    }

    /// Verifies all of it; refuses the whole if any part is invalid.
    fileprivate init(_ customer: StatedCustomer, _ reader: AppStoreSignedDataReader, at now: Timestamp) throws(Refusal)
    {
        let signedData = customer.signedData
        evidence = signedData.isEmpty ? Self.none.evidence : try signedData.evidence(reader, at: now)
        appTransaction = try customer.appTransaction.map { jws throws(Refusal) in
            try Self.appTransaction(jws, reader, at: now)
        }
    }

    private static func appTransaction(
        _ jws: [UInt8],
        _ reader: AppStoreSignedDataReader,
        at now: Timestamp
    ) throws(Refusal) -> AppTransaction {
        let pointer = "/signedAppTransaction"
        let transaction: AppTransaction
        do { transaction = try reader.appTransaction(jws, at: now) } catch {
            throw .signedData(error, pointer: pointer)
        }
        guard transaction.appTransactionID != nil else {
            let message = "has no appTransactionId; the app can have it signed again by AppTransaction.refresh()"
            throw .request(.invalid([Mismatch(pointer: pointer, offset: 0, message: message)]))
        }
        return transaction
    }
}

extension AppStore {
    /// Verifies what a request about a customer of the app sends along.
    func verified(
        _ customer: StatedCustomer,
        of bundleID: BundleID,
        in context: RequestContext
    ) async throws(Refusal) -> VerifiedMembers {
        let (signedData, appTransaction) = (customer.signedData, customer.appTransaction)
        guard !signedData.isEmpty || appTransaction != nil, let app = context.catalog.apps[bundleID] else {
            return .none
        }
        let pieces = signedData.transactions + signedData.renewalInfos + (appTransaction.map { [$0] } ?? [])
        let (reader, now) = (self.reader(of: [app]), context.receivedAt)
        let result: Result<VerifiedMembers, Refusal>? = await verifying(pieces, for: context.caller.party) {
            do throws(Refusal) {
                return .success(try VerifiedMembers(customer, reader, at: now))
            } catch {
                return .failure(error)
            }
        }
        guard let result else { throw .service(.overloaded) }
        return try result.get()
    }
}
