// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain
import ServiceRuntime
import Storage

extension LedgerWriter {
    /// Records that the service asks the App Store for the change next, unless it must not ask.
    func admit(_ change: AccountTokenChange, _ stop: KeyStop?) throws(LedgerError) -> AccountTokenChange.Ruling {
        if outdatedVersions.contains(change.secretVersion) { return .stopped(.outdatedSecret) }
        try apply(change.rotatedKeys)
        if let claim = change.claim, let kept = try keptAnswer(under: claim, at: change.receivedAt) {
            let made = AccountTokenChange.Made(at: kept.at, kept.json)
            guard kept.requestDigest == claim.requestDigest, let made else { return .keyReused }
            return .made(made)
        }
        if let stop { return .stopped(stop) }
        guard try mayBeOfCustomer(change) else { return .ofOtherCustomer }
        let known = try database(chains.record(of: change.chain))
        try append(.accountToken(change))
        return .ask(known?.transactions.values.first?.environment)
    }

    /// Records what the App Store answered, and the customer of the purchases from now on.
    func conclude(
        _ change: AccountTokenChange,
        _ answer: Result<StoreEnvironment, StoreError>
    ) throws(LedgerError) -> Timestamp {
        let entry = try append(.accountToken(change, answer: answer))
        guard case .success(let environment) = answer, !outdatedVersions.contains(change.secretVersion) else {
            return recordedAt
        }
        try link(change, entry)
        try merge(change.report(at: recordedAt))
        if let claim = change.claim {
            let made = AccountTokenChange.Made(at: recordedAt, in: environment)
            let id = change.requestID
            try remember(made.json, id: id, nonce: id, at: recordedAt, under: claim)
        }
        return recordedAt
    }

    /// Whether the purchases may be this customer's: false if the ledger has them under another, unlinked customer.
    private func mayBeOfCustomer(_ change: AccountTokenChange) throws(LedgerError) -> Bool {
        guard let holder = try database(holders.customer(of: change.chain.bytes)) else { return true }
        let customer = change.customer.ledgerKey
        return try holder == customer ? true : database(links.areVouched(holder, customer))
    }

    /// Links the customer, the token and the token before it: each counts what was granted to the others.
    private func link(_ change: AccountTokenChange, _ entry: Int64) throws(LedgerError) {
        let (customer, token) = (change.customer.ledgerKey, change.token.ledgerKey)
        let earlier = try database(holders.account(of: change.chain.bytes))
        for (from, to) in [(earlier ?? token, token), (earlier ?? token, customer), (token, customer)] where from != to
        {
            let isKnown = try database(links.areVouched(from, to))
            if isKnown { continue }
            let link = CustomerLinks.Link(subject: to, isVouched: true)
            if try isAtLimit(from, beside: link) { continue }
            if try isAtLimit(to, beside: link) { continue }
            try database(links.add(from, to: link, at: recordedAt, entry: entry))
        }
    }
}

extension Committer {
    /// Records that the service asks the App Store next, unless it must not ask; returns when that is durable.
    package func admit(_ change: AccountTokenChange) async throws(LedgerError) -> AccountTokenChange.Ruling {
        let found = Guarded<AccountTokenChange.Ruling>(.ofOtherCustomer)
        try await self.change { [keyUseGuard] writer throws(LedgerError) in
            let admission = try writer.admit(change, keyUseGuard.stop(of: change.keyID))
            found.withLock { $0 = admission }
        }
        return found.withLock { $0 }
    }

    /// Records what the App Store answered; returns when that is durable, with the time of the record.
    package func conclude(
        _ change: AccountTokenChange,
        _ answer: Result<StoreEnvironment, StoreError>
    ) async throws(LedgerError) -> Timestamp {
        let found = Guarded(change.receivedAt)
        try await self.change { writer throws(LedgerError) in
            let instant = try writer.conclude(change, answer)
            found.withLock { $0 = instant }
        }
        return found.withLock { $0 }
    }
}
