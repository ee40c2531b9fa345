// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain
import ServiceRuntime
import Storage

// MARK: - What backends store of their customers

extension LedgerWriter {
    /// What the request states, and stored values for attributes that a rule reads and the request leaves out.
    ///
    /// - Returns: `all`: the attributes that the decision rests on; `nil` if no trusted caller stated any, in the request
    ///   or before. `stored`: the names of those that were stored; `nil` if nothing that is stored was used.
    func attributes(of request: DecisionRequest) throws(LedgerError) -> (all: Attributes?, stored: [String]?) {
        let stated = request.attributes
        let missing = request.offer.attributeNames.filter { stated?[$0] == nil }
        // Most rules read none, or the request states them all: nothing is read then.
        guard !missing.isEmpty, let stored = try stored(of: request)?.attributes else {
            return (all: stated, stored: nil)
        }
        let all = (stated ?? Attributes()).filled(from: stored, names: missing)
        return (all: all, stored: missing.filter { stored[$0] != nil })
    }

    /// The facts of an undecided request together with those that a backend has stored, and the names of these; `nil` if
    /// nothing is stored.
    func factsWithStored(
        _ facts: SharedFacts,
        of request: DecisionRequest
    ) throws(LedgerError) -> (facts: CustomerFacts, names: [String])? {
        guard !request.offer.factNeeds.isEmpty, let stored = try stored(of: request), let object = stored.facts else {
            return nil
        }
        let older = object.facts(storedAt: stored.storedAt).asked(of: request.offer.subscriptionGroupID)
        let (storedAt, now) = (stored.storedAt, request.receivedAt)
        return (facts.value.filled(fromStored: older, storedAt: storedAt, now: now), object.names)
    }

    /// What is stored under the customer's first name that is proven, or that a backend states.
    ///
    /// For a device alone, which only a backend may ask about, the service uses the attributes of the one customer that
    /// a backend transferred it to. With two customers it uses none, since either may be asking.
    private func stored(of request: DecisionRequest) throws(LedgerError) -> StoredAttributes? {
        let names = request.attributeHolders
        let key = names.isEmpty ? request.customers : names
        if let known = memory?.attributes[key] { return known }
        var found = try firstStored(of: names, at: request.receivedAt)
        if names.isEmpty, request.knowledge.isVouchedFor {
            let linked = try vouchedLinks(of: request.customers)
            if linked.count == 1 { found = try firstStored(of: linked, at: request.receivedAt) }
        }
        memory?.attributes[key] = found
        return found
    }

    private func firstStored(of subjects: [[UInt8]], at now: Timestamp) throws(LedgerError) -> StoredAttributes? {
        for subject in subjects {
            if let found = try database(attributeTable.attributes(of: subject, at: now)) { return found }
        }
        return nil
    }

    // MARK: - Changes

    /// What is stored of a customer.
    func attributes(of user: Pseudonym, at now: Timestamp) throws(LedgerError) -> StoredAttributes? {
        try bringForward(user)
        return try firstStored(of: [user.ledgerKey], at: now)
    }

    /// Records what a backend states of a customer, and stores it in place of all that was; or deletes it.
    ///
    /// A change without effect is not recorded: the same attributes with the same end, or nothing to delete.
    /// - Returns: What is stored now, or was until it was deleted; `nil` if there was nothing to delete.
    package func change(_ change: AttributeChange, at now: Timestamp) throws(LedgerError) -> StoredAttributes? {
        try bringForward(change.user)
        let subject = change.user.ledgerKey
        let earlier = try firstStored(of: [subject], at: now)
        guard let new = change.new else {
            guard let earlier else { return nil }
            try append(.attributesChanged(change))
            try database(attributeTable.delete(of: subject))
            return earlier
        }
        if let earlier, earlier.says(new) { return earlier }
        let entry = try append(.attributesChanged(change))
        let stored = StoredAttributes(new, storedAt: recordedAt)
        try database(attributeTable.store(stored, of: subject, entry: entry))
        return stored
    }

    /// Moves data that was stored under the earlier version of the secret to the key in force.
    private func bringForward(_ user: Pseudonym) throws(LedgerError) {
        try apply([RotatedKey(user)].compactMap(\.self))
    }

    /// Deletes some of what has expired.
    package func deleteExpiredAttributes(at now: Timestamp) throws(LedgerError) {
        try database(attributeTable.deleteExpired(at: now))
    }
}

extension DecisionRequest {
    /// The keys of the names that attributes may be stored under, if they are proven or a backend states them.
    ///
    /// Nothing is stored under names that an app claims, or under purchases. A user's token proves one customer; an
    /// account in signed data beside it may belong to another.
    var attributeHolders: [[UInt8]] {
        if knowledge.provesCustomer, !knowledge.isVouchedFor, let knownCustomer { return [knownCustomer] }
        return names.filter { name in
            switch name.identity {
            case .customer, .appAccountToken, .applicationUsername: true
            case .anonymous, .claimedAppAccountToken, .claimedApplicationUsername, .originalTransaction,
                .appTransaction:
                false
            }
        }.map(\.pseudonym.ledgerKey)
    }
}

extension Committer {
    /// What is stored of a customer.
    package func attributes(
        of user: Pseudonym,
        secretVersion: String,
        at now: Timestamp
    ) async throws(LedgerError) -> StoredAttributes? {
        try await attributes(under: secretVersion) { writer throws(LedgerError) in
            try writer.attributes(of: user, at: now)
        }
    }

    /// Stores or deletes attributes; returns once that is durable.
    package func change(_ change: AttributeChange, at now: Timestamp) async throws(LedgerError) -> StoredAttributes? {
        try await attributes(under: change.secretVersion) { writer throws(LedgerError) in
            try writer.change(change, at: now)
        }
    }

    private func attributes(
        under secretVersion: String,
        _ body: @escaping @Sendable (LedgerWriter) throws(LedgerError) -> StoredAttributes?
    ) async throws(LedgerError) -> StoredAttributes? {
        let found = Guarded<StoredAttributes?>(nil)
        try await look { writer throws(LedgerError) in
            guard !writer.outdatedVersions.contains(secretVersion) else { throw .outdatedSecret }
            let stored = try body(writer)
            found.withLock { $0 = stored }
        }
        return found.withLock { $0 }
    }
}
