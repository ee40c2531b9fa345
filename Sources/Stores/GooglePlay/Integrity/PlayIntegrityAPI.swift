// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
package import Ledger
import OfferDomain
import ServiceRuntime

/// Has Google decode the tokens by which apps at Google Play prove themselves.
///
/// Source: Google, [decodeIntegrityToken](https://developer.android.com/google/play/integrity/standard#decrypt-and).
package final class PlayIntegrityAPI: Sendable {
    private let gateway: StoreGateway
    private let tokens: GoogleAccessTokens
    private let log: Log
    private let origin: Origin

    init(gateway: StoreGateway, signer: any GoogleAssertionSigner, log: Log, origins: GoogleOrigins) {
        self.gateway = gateway
        self.log = log
        origin = origins.integrity
        tokens = GoogleAccessTokens(signer, .playIntegrity, by: gateway, at: origins.oauth, log: log)
    }

    /// As metrics and the log name the question.
    static let endpoint = "integrity-token"
    /// A verdict has some 20 members.
    static let limits = JSONLimits(maximumBytes: 64 * 1024, maximumDepth: 16, maximumNodes: 2048)
    /// What Google says of a token of that app.
    package func lookUp(
        _ token: [UInt8],
        _ asking: GooglePlayAsking,
        requestsPerDay: Int = PlayIntegritySettings.usualRequestsPerDay
    ) async throws(StoreError) -> IntegrityLookup {
        let milliseconds = asking.overallMilliseconds ?? gateway.retries.overallMilliseconds
        let deadline = gateway.uptime.deadline(afterMilliseconds: milliseconds)
        let call = call(asking, requestsPerDay)
        return try await tokens.asking(about: asking.packageName) { access throws(StoreError) in
            try await gateway.ask(call, before: deadline) { milliseconds throws(StoreError) in
                try request(token, asking.packageName, with: access, in: milliseconds)
            } read: {
                GooglePlayReading(now: gateway.clock.now()).integrity($0)
            }
        } failed: { error, access in
            log.note(error, Self.endpoint, about: asking.packageName, as: access.account.email)
        }
    }

    private func call(_ asking: GooglePlayAsking, _ requestsPerDay: Int) -> StoreCall {
        StoreCall(
            account: StoreCall.Account(
                store: GooglePlayAPI.storeName,
                endpoint: Self.endpoint,
                environment: GooglePlayAPI.environmentName,
                app: asking.packageName.text
            ),
            origin: origin,
            quota: StoreQuota(requests: requestsPerDay, spanMilliseconds: 86_400_000),
            party: asking.party
        )
    }

    private func request(
        _ token: [UInt8],
        _ packageName: PackageName,
        with access: GoogleAccessToken,
        in milliseconds: Int
    ) throws(StoreError) -> ClientRequest {
        var headers = HeaderFields()
        headers.append("Authorization", "Bearer \(access.text)")
        headers.append("Accept", "application/json")
        headers.append("Content-Type", "application/json")
        let body: JSONTree = ["integrity_token": .text(String(decoding: token, as: UTF8.self))]
        do throws(ClientError) {
            var request = try ClientRequest(
                .post,
                // A package name has letters, digits, dots and `_` alone.
                url: "\(origin)/v1/\(packageName):decodeIntegrityToken",
                headers: headers,
                body: body.bytes
            )
            request.timeoutMilliseconds = milliseconds
            request.maximumResponseBytes = Self.limits.maximumBytes
            return request
        } catch {
            throw .badAnswer(reason: "our request: \(error.label)")
        }
    }
}
