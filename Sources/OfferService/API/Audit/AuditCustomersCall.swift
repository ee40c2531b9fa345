// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import Storage
import TransparencyLog

/// `POST /v1/audit/customers`: the pseudonyms under which the records keep a customer, given the customer's names.
///
/// Before it answers, the service records the caller and the pseudonyms, never the name.
struct AuditCustomersCall: Sendable {
    let searches: LogSearches
    let reads: ReadRecorder

    /// Answers auditors and administrators.
    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading()
        try request.requireJSON()
        let asked = try AuditCustomersRequest(request.body, snapshot.catalog)
        let destroyed = try await searches.read { connection, _ throws(AuditReadError) in
            try reading(SecretVersionTable(connection: connection).destroyed())
        }
        let pseudonyms = snapshot.pseudonyms.without(destroyed)
        let users = asked.names.map { ($0.name, $0.identity, pseudonyms.pseudonym(of: $0.identity, in: asked.app)) }
        var recorded: [Pseudonym] = []
        // Of each name the newest alone, as `CustomerLookup` has it.
        for user in users.map(\.2) where !recorded.contains(where: { $0.recordText == user.recordText }) {
            recorded.append(user)
        }
        do throws(LedgerError) {
            try await reads.record(lookupOf: recorded, in: asked.app, by: caller.id)
        } catch {
            throw .service(ServiceFault(error))
        }
        return Self.response(asked.app, users)
    }

    private static func response(
        _ app: AppName,
        _ users: [(name: String, identity: CustomerIdentity, pseudonym: Pseudonym)]
    ) -> Response {
        let names: [JSONTree] = users.flatMap { name, identity, newest in
            ([newest] + newest.earlier).map { pseudonym in
                [
                    "name": .text(name), "isClaimed": .boolean(identity.isClaimed),
                    "epoch": .text(pseudonym.secretVersion),
                    "user": .text(pseudonym.text),
                ]
            }
        }
        return .json(["app": .text(app.text), "users": .array(names)])
    }
}

/// What a caller of `POST /v1/audit/customers` sends.
struct AuditCustomersRequest: Sendable {
    let app: AppName
    /// Each with the name of the member that has it.
    let names: [(name: String, identity: CustomerIdentity)]

    private static let limits = JSONLimits(maximumBytes: 16_384)

    init(_ body: [UInt8], _ catalog: Catalog) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body, limits: Self.limits) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let bundleID = reader.optional("bundleId", text: BundleID.init)
        let packageName = reader.optional("packageName", text: PackageName.init)
        let isNamed = ["bundleId", "packageName"].map { reader.member($0) != nil }
        let isObject = document.root.object != nil
        if isObject, isNamed == [false, false] {
            reader.note("bundleId", "is missing, and so is packageName; the app must be named by one of them")
        } else if isNamed == [true, true] {
            reader.note("packageName", "cannot be combined with bundleId; name the app by one of them")
        }
        let names = Self.names(&reader)
        if isObject, names.isEmpty, mismatches.all.isEmpty {
            reader.note("customerId", "is missing, and so is every other name of a customer: \(Self.members)")
        }
        reader.finish()
        guard mismatches.all.isEmpty, let app = bundleID.map({ AppName($0) }) ?? packageName.map(catalog.ledgerName)
        else { throw .invalid(mismatches) }
        guard AppInStores(app, in: catalog) != nil else {
            throw .decision(.unknownOffer(bundleID == nil ? .package : .app))
        }
        (self.app, self.names) = (app, names)
    }

    private static let members =
        "anonymousId, appAccountToken, applicationUsername, originalTransactionId, appTransactionId"

    /// What an app claims is in a namespace of its own, so a name that both may give is looked for in both.
    private static func names(_ reader: inout ObjectReader) -> [(name: String, identity: CustomerIdentity)] {
        let token = reader.optional("appAccountToken", "a UUID, as 8-4-4-4-12 hexadecimal digits") { value in
            value.stringSlice.flatMap { UniqueID(utf8: $0) }
        }
        let username = reader.optional("applicationUsername", text: ApplicationUsername.init)
        let names: [(String, CustomerIdentity?)] = [
            ("customerId", reader.optional("customerId", text: CustomerID.init).map { .customer($0) }),
            ("anonymousId", reader.optional("anonymousId", text: AnonymousID.init).map { .anonymous($0) }),
            ("appAccountToken", token.map { .appAccountToken($0) }),
            ("appAccountToken", token.map { .claimedAppAccountToken($0) }),
            ("applicationUsername", username.map { .applicationUsername($0) }),
            ("applicationUsername", username.map { .claimedApplicationUsername($0) }),
            (
                "originalTransactionId",
                reader.optional("originalTransactionId", text: TransactionID.init).map { .originalTransaction($0) }
            ),
            (
                "appTransactionId",
                reader.optional("appTransactionId", text: TransactionID.init).map { .appTransaction($0) }
            ),
        ]
        return names.compactMap { name, identity in identity.map { (name, $0) } }
    }
}
