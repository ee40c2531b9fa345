// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import JSON
package import OfferDomain

/// Who a verified token says that the user is.
///
/// A class, because a caller is copied and this never changes.
package final class ProvenUser: Sendable {
    /// The customer ID that the provider's entry makes of a claim.
    package let customerID: CustomerID
    /// What the user's purchases name; `nil` if the provider's entry says nothing of it.
    package let appAccountToken: UniqueID?
    /// The attributes that the token's claims state; `nil` if the entry names none.
    package let attributes: Attributes?
    /// A digest of issuer and subject, for this user's own rates and idempotency keys.
    package let key: [UInt8]

    /// Reads what the provider's entry says out of the claims.
    package init(_ claims: TokenClaims, of provider: IdentityProvider) throws(TokenFault) {
        key = SHA256.digest(of: Array(claims.issuer.utf8) + [0] + Array(claims.subject.utf8)).bytes
        let customerID = try Self.customerID(claims, provider.customer)
        self.customerID = customerID
        appAccountToken = try provider.accountToken.map { claim throws(TokenFault) in
            try Self.accountToken(claims, claim, of: customerID)
        }
        attributes = try Self.attributes(claims, provider.attributes)
    }

    /// The prefix of an idempotency key, because a body without names leaves open who the customer is.
    package var idempotencyPrefix: [UInt8] {
        let token = appAccountToken?.bytes ?? []
        return SHA256.digest(of: key + token + [0] + Array(customerID.text.utf8)).bytes + [0]
    }

    /// The names under which the user is proven, for the caps of an offer.
    package var names: [CustomerIdentity] {
        [.customer(customerID)] + (appAccountToken.map { [.appAccountToken($0)] } ?? [])
    }

    private static func text(_ claims: TokenClaims, _ name: String) throws(TokenFault) -> String {
        guard let value = claims.all[name] else { throw .claimMissing(name) }
        guard let text = value.string, !text.isEmpty else { throw .claimUnfit(name) }
        if name == "email" { try checkVerified(claims) }
        return text
    }

    /// Refuses an e-mail address that the provider has not verified: it may belong to another person.
    ///
    /// Most providers write a boolean; Apple writes a string.
    private static func checkVerified(_ claims: TokenClaims) throws(TokenFault) {
        guard let isVerified = claims.all["email_verified"] else { throw .claimMissing("email_verified") }
        guard isVerified.bool == true || isVerified.string(equals: "true") else {
            throw .claimUnfit("email_verified")
        }
    }

    private static func customerID(
        _ claims: TokenClaims,
        _ mapping: IdentityProvider.CustomerClaim
    ) throws(TokenFault) -> CustomerID {
        let text = try text(claims, mapping.claim)
        let id: String?
        switch mapping.form {
        case .asIs: id = text
        case .uuid: id = UniqueID(text).map { "\($0)" }
        case .sha256: id = SHA256.digest(of: Array(text.utf8)).hex
        }
        guard let id, let customerID = try? CustomerID(id) else { throw .claimUnfit(mapping.claim) }
        return customerID
    }

    private static func accountToken(
        _ claims: TokenClaims,
        _ mapping: IdentityProvider.AccountTokenClaim,
        of customerID: CustomerID
    ) throws(TokenFault) -> UniqueID {
        switch mapping {
        case .claim(let name):
            guard let token = UniqueID(try text(claims, name)) else { throw .claimUnfit(name) }
            return token
        case .derived(let namespace):
            guard let token = UniqueID(version5: customerID.text, in: namespace) else { throw .claimUnfit("sub") }
            return token
        }
    }

    private static func attributes(
        _ claims: TokenClaims,
        _ mapping: [IdentityProvider.AttributeClaim]
    ) throws(TokenFault) -> Attributes? {
        guard !mapping.isEmpty else { return nil }
        var values: [(name: String, value: AttributeValue)] = []
        for entry in mapping {
            guard let claim = claims.all[entry.claim] else { continue }
            guard let value = AttributeValue(claim) else { throw .claimUnfit(entry.claim) }
            values.append((entry.attribute, value))
        }
        do throws(AttributeError) { return try Attributes(values) } catch { throw .claimUnfit("attributes") }
    }
}

extension ProvenUser: Hashable {
    /// Users of one key are equal only if the token proves the same of them.
    package static func == (one: ProvenUser, other: ProvenUser) -> Bool {
        one.key == other.key && one.customerID == other.customerID && one.appAccountToken == other.appAccountToken
            && one.attributes == other.attributes
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension UniqueID {
    /// A UUID that is made of a name within a namespace; `nil` where OpenSSL offers no SHA-1.
    ///
    /// Source: RFC 9562 section 5.5.
    init?(version5 name: String, in namespace: UniqueID) {
        guard var bytes = SHA1.digest(of: namespace.bytes + Array(name.utf8))?.prefix(16) else { return nil }
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        self.init(bytes: Array(bytes))
    }
}
