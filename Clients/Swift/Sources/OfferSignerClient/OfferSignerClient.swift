// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Calls an offer-signer service: typed requests and answers, retries, and idempotency keys.
///
/// ```swift
/// let client = OfferSignerClient(url: serviceURL, token: apiKey)
/// let offer = try await client.signPromotionalOffer(
///     SignatureRequest(bundleID: "com.example.app", productID: "com.example.pro.monthly", offerID: "winback_3m")
/// )
/// ```
public struct OfferSignerClient: Sendable {
    /// Gives the bearer token of a request: an API key, or a token of your own login.
    public typealias TokenSource = @Sendable () async throws -> String

    private let sender: RequestSender

    /// A client that always sends the same token.
    public init(url: URL, token: String, retries: RetryPolicy = RetryPolicy()) {
        self.init(url: url, retries: retries) { token }
    }

    /// A client that asks for the token before each try, so that it may change.
    ///
    /// `url` is where the service is, such as `https://offers.example.com`; a path in it is kept. `transport` sends requests;
    /// the default uses `URLSession.shared`.
    public init(
        url: URL,
        transport: any HTTPTransport = URLSessionTransport(),
        retries: RetryPolicy = RetryPolicy(),
        token: @escaping TokenSource
    ) {
        sender = RequestSender(url: url, transport: transport, retries: retries, token: token)
    }

    // MARK: - App Store

    /// Asks for the signature of a promotional offer.
    ///
    /// A signature is good for one buy request, even if the purchase fails. So ask when the customer taps *buy*, and again,
    /// with another key, before the next attempt.
    ///
    /// The idempotency key is one per purchase attempt. Within 24 hours the same request with the same key gets the same
    /// grant, which counts once toward caps. Tries of this client share the key.
    public func signPromotionalOffer(
        _ request: SignatureRequest,
        idempotencyKey: String = UUID().uuidString
    ) async throws -> SignedOffer {
        try await sender.send(request, to: "v1/app-store/promotional-offers/signatures", idempotencyKey: idempotencyKey)
    }

    /// Asks for up to 32 signatures; each is granted or refused by itself, in the order of the requests.
    public func signPromotionalOffers(
        _ requests: [SignatureRequest],
        idempotencyKey: String = UUID().uuidString
    ) async throws -> [SignatureResult] {
        let results: SignatureResults = try await sender.send(
            SignatureRequests(requests: requests),
            to: "v1/app-store/promotional-offers/signatures/batch",
            idempotencyKey: idempotencyKey
        )
        return results.results
    }

    /// Asks whether the customer may have the introductory offer; yes and no are both signed.
    public func signIntroductoryOffer(
        _ request: IntroductoryOfferRequest,
        idempotencyKey: String = UUID().uuidString
    ) async throws -> SignedIntroductoryOffer {
        try await sender.send(
            request,
            to: "v1/app-store/introductory-offers/signatures",
            idempotencyKey: idempotencyKey
        )
    }

    // MARK: - Google Play

    /// Asks for leave to show and sell an offer at Google Play.
    public func authorizeGooglePlayOffer(
        _ request: AuthorizationRequest,
        idempotencyKey: String = UUID().uuidString
    ) async throws -> Authorization {
        try await sender.send(request, to: "v1/google-play/offers/authorizations", idempotencyKey: idempotencyKey)
    }

    // MARK: - Both stores

    /// Asks which offers the customer would get.
    ///
    /// It reserves, records and signs nothing, so paywalls may use it.
    public func eligibility(_ request: EligibilityRequest) async throws -> Eligibility {
        try await sender.send(request, to: "v1/eligibility")
    }

    /// Reports transactions that StoreKit signed, so that later decisions know them; answers how many were accepted.
    @discardableResult
    public func report(_ transactions: Transactions) async throws -> Int {
        let answer: AcceptedTransactions = try await sender.send(transactions, to: "v1/transactions")
        return answer.accepted
    }

    /// Says that an anonymous customer has logged in, so that caps count both names.
    ///
    /// For backends, and for apps with a user's token of that customer: then purchases do not follow.
    @discardableResult
    public func transfer(_ transfer: Transfer) async throws -> TransferResult {
        try await sender.send(transfer, to: "v1/customers/transfers")
    }

    /// Has Apple put a customer's account on purchases that were made without it; backends only.
    @discardableResult
    public func setAppAccountToken(
        _ request: AppAccountTokenRequest,
        idempotencyKey: String = UUID().uuidString
    ) async throws -> AppAccountTokenResult {
        try await sender.send(request, to: "v1/app-store/app-account-tokens", idempotencyKey: idempotencyKey)
    }
}
