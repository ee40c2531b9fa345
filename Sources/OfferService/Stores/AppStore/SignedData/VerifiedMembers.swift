// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// What a request sends along that the App Store signed, verified.
struct VerifiedMembers: Sendable {
    let evidence: SubscriptionEvidence
    /// Of a request for an introductory offer; it names its account.
    let appTransaction: AppTransaction?

    /// Nothing is sent along.
    static let none = VerifiedMembers(evidence: SubscriptionEvidence(source: .signedTransaction), appTransaction: nil)

    private init(evidence: SubscriptionEvidence, appTransaction: AppTransaction?) {
        (self.evidence, self.appTransaction) = (evidence, appTransaction)
    }

    /// Verifies all of it; refuses it as a whole if any of it is not as it must be.
    fileprivate init(_ request: SignatureRequest, _ reader: AppStoreSignedDataReader, at now: Timestamp) throws(Refusal)
    {
        evidence =
            request.signedData.isEmpty ? Self.none.evidence : try request.signedData.evidence(reader, at: now)
        appTransaction = try request.subject.appTransaction.map { jws throws(Refusal) in
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

extension SignatureRequest.Subject {
    /// The signed app transaction, as it was sent along.
    fileprivate var appTransaction: [UInt8]? {
        if case .introductoryOffer(let jws?) = self { jws } else { nil }
    }
}

extension AppStore {
    /// Verifies what a request sends along.
    func verified(
        _ request: SignatureRequest,
        for caller: Caller,
        of bundleID: BundleID,
        under configuration: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> VerifiedMembers {
        let appTransaction = request.subject.appTransaction
        guard !request.signedData.isEmpty || appTransaction != nil, let app = configuration.catalog.apps[bundleID]
        else {
            return .none
        }
        let pieces =
            request.signedData.transactions + request.signedData.renewalInfos + (appTransaction.map { [$0] } ?? [])
        let reader = reader(of: [app])
        let result: Result<VerifiedMembers, Refusal>? = await verifying(pieces, for: caller.party) {
            do throws(Refusal) {
                return .success(try VerifiedMembers(request, reader, at: now))
            } catch {
                return .failure(error)
            }
        }
        guard let result else { throw .service(.overloaded) }
        return try result.get()
    }
}
