// SPDX-License-Identifier: Apache-2.0

extension FakeGooglePlay {
    /// In what an OIDC token is wrong; `Tests/Fakes/GooglePlay/push_faults.py` says each in a sentence.
    package enum TokenFault: String, Codable, CaseIterable, Sendable {
        // In the claims, under a right signature.
        case otherAudience, audienceWithSlash, noAudience, otherEmail, noEmail, unverifiedEmail, noEmailVerified
        case emailVerifiedAsText, otherIssuer, noIssuer, expired, old, issuedInFuture, longLived, noExpiry
        case noIssuedAt, expiryAsText, expiryWithoutEnd
        // In the header.
        case unknownKey, noKeyID, keyIDNotText, criticalHeader, noAlgorithm
        // In the signature, and in the text.
        case ofStranger, embeddedKey, badSignature, emptySignature, pssSignature, algorithmRS512, algorithmES256
        case algorithmNone, algorithmHS256, tampered, repeatedClaim, claimsNotJSON, claimsNotObject, paddedSegments
        case twoSegments, fourSegments, oversized
        /// The issuer's other name, which is right.
        case issuerWithoutScheme

        /// Odd, yet a verifier that goes by Google's pages takes it.
        package var isAcceptable: Bool { self == .issuerWithoutScheme }
    }

    private struct Names: Decodable {
        let faults: [String: String]
    }

    /// The names of the faults that the program itself has.
    package func tokenFaultNames() throws -> [String] {
        let names: Names = try call("describe", Nothing())
        return names.faults.keys.sorted()
    }

    /// What differs in a message, besides a fault of its token.
    package struct MessageChanges: Encodable, Sendable {
        /// The id of the message, instead of its own.
        package var renamed: String?
        /// Milliseconds since 1970.
        package var publishedAt: Int64?
        /// What differs in the token's claims, in the DeveloperNotification, in `message`, and around it.
        package var claims, content, message, envelope: FakeMembers
        /// The text that is in `message.data` instead of the DeveloperNotification.
        package var data: String?
        package var fault: TokenFault?

        package init(
            renamed: String? = nil,
            publishedAt: Int64? = nil,
            claims: FakeMembers = [:],
            content: FakeMembers = [:],
            message: FakeMembers = [:],
            envelope: FakeMembers = [:],
            data: String? = nil,
            fault: TokenFault? = nil
        ) {
            self.renamed = renamed
            self.publishedAt = publishedAt
            self.claims = claims
            self.content = content
            self.message = message
            self.envelope = envelope
            self.data = data
            self.fault = fault
        }
    }

    /// What Pub/Sub posts.
    package struct PushMessage: Decodable, Hashable, Sendable {
        package let messageID: String
        package let body: String
        /// The value of the field Authorization: "Bearer " and a token.
        package let authorization: String

        /// The token alone.
        package var token: String { String(authorization.dropFirst("Bearer ".count)) }

        enum CodingKeys: String, CodingKey {
            case messageID = "messageId"
            case body, authorization
        }
    }

    /// Who a push endpoint expects to come, and what for.
    package struct PushIdentity: Codable, Hashable, Sendable {
        package let audience, email: String

        package init(audience: String, email: String) {
            self.audience = audience
            self.email = email
        }
    }

    private struct NewMessage: Encodable {
        let messageID: String
        let changes: MessageChanges

        enum CodingKeys: String, CodingKey {
            case messageID = "messageId"
        }

        func encode(to encoder: any Encoder) throws {
            try changes.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(messageID, forKey: .messageID)
        }
    }

    private struct MadeNotification: Decodable {
        let messageId: String
    }

    /// The audience and the e-mail of the tokens, which are these at first.
    package static let pushIdentity = PushIdentity(
        audience: "https://offers.example.com/v1/notifications/google-play",
        email: "pubsub-push@example-project.iam.gserviceaccount.com"
    )

    /// Comes as another, or for another audience.
    package func setPush(_ identity: PushIdentity) throws {
        let _: PushIdentity = try call("setPush", identity)
    }

    /// What Pub/Sub posts for a notification, signed now; the same id as often as it is asked for.
    package func push(_ messageID: String, changing changes: MessageChanges = .init()) throws -> PushMessage {
        try call("pushMessage", NewMessage(messageID: messageID, changes: changes))
    }

    /// What Pub/Sub posts for all that came of something, in that order.
    package func pushes(of outcome: Outcome) throws -> [PushMessage] {
        try outcome.messageIDs.map { try push($0) }
    }

    /// What Pub/Sub posts for a notification, with a token that is wrong.
    package func push(_ messageID: String, fault: TokenFault) throws -> PushMessage {
        try push(messageID, changing: MessageChanges(fault: fault))
    }

    /// A notification that no purchase caused, with one member besides version, app and time.
    ///
    /// - Returns: The id of the message.
    package func makeNotification(
        _ kind: String = "testNotification",
        _ body: FakeMembers = ["version": "1.0"],
        in packageName: String = firstApp
    ) throws -> String {
        let arguments: FakeMembers = ["kind": .text(kind), "body": .object(body), "packageName": .text(packageName)]
        let made: MadeNotification = try call("makeNotification", arguments)
        return made.messageId
    }

    /// Signs with a new key from now on, which is published at once, or only by ``publishKeys()``.
    ///
    /// The keys that there were stay published, or not.
    package func rotateKeys(keepsOld: Bool = true, publishes: Bool = true) throws {
        try perform("rotateKeys", ["keepsOld": keepsOld, "publishes": publishes])
    }

    package func publishKeys() throws {
        try perform("publishKeys", Nothing())
    }

    /// How long the keys may be kept, in seconds (`nil`: not stated), and what differs in the answer.
    package func setCertificates(maxAgeSeconds: Int?, changing members: FakeMembers = [:]) throws {
        var arguments: FakeMembers = ["members": .object(members)]
        if let maxAgeSeconds { arguments["maxAgeSeconds"] = .integer(maxAgeSeconds) }
        try perform("setCertificates", arguments)
    }
}
