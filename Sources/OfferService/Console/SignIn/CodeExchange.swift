// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import JSON

/// Exchanges an authorization code for an ID token at the provider's token endpoint.
///
/// Sources: OpenID Connect Core 1.0 section 3.1.3, RFC 6749 section 2.3.1, RFC 7636 section 4.5.
struct CodeExchange: Sendable {
    let transport: any Transport
    let timeoutMilliseconds: Int

    /// The ID token, which is not verified yet.
    func idToken(
        for code: String,
        of pending: PendingSignIn,
        from metadata: ProviderMetadata,
        by settings: ConsoleSignIn
    ) async throws(SignInFault) -> [UInt8] {
        let response = try await send(request(for: code, of: pending, from: metadata, by: settings))
        let members = (try? JSONDocument(response.body, limits: Self.limits))?.root.object
        guard response.status == 200 else {
            throw .codeRefused(status: response.status, error: Self.errorCode(members?["error"]?.string))
        }
        guard let token = members?["id_token"]?.stringBytes else { throw .answerUnfit }
        return token
    }

    private func request(
        for code: String,
        of pending: PendingSignIn,
        from metadata: ProviderMetadata,
        by settings: ConsoleSignIn
    ) throws(SignInFault) -> ClientRequest {
        var headers = HeaderFields()
        headers.append("Accept", "application/json")
        headers.append("Content-Type", "application/x-www-form-urlencoded")
        var form = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", settings.redirectURL),
            ("code_verifier", pending.codeVerifier),
        ]
        if let secret = settings.clientSecret, !metadata.wantsSecretInBody {
            let pair = "\(FormEncoding.encoded(settings.clientID)):\(FormEncoding.encoded(secret.text))"
            let credential = String(decoding: Base64.encode(Array(pair.utf8)), as: UTF8.self)
            headers.append("Authorization", "Basic \(credential)")
        } else {
            form.append(("client_id", settings.clientID))
            if let secret = settings.clientSecret { form.append(("client_secret", secret.text)) }
        }
        do throws(ClientError) {
            var request = try ClientRequest(
                .post,
                url: metadata.tokenURL,
                headers: headers,
                body: Array(FormEncoding.text(form).utf8)
            )
            request.timeoutMilliseconds = timeoutMilliseconds
            request.maximumResponseBytes = Self.limits.maximumBytes
            return request
        } catch {
            throw .noAnswer(error.label)
        }
    }

    private func send(_ request: ClientRequest) async throws(SignInFault) -> ClientResponse {
        do { return try await transport.send(request) } catch { throw .noAnswer(error.label) }
    }

    /// The provider's own code, if it is one, for a page and the log.
    ///
    /// Source: RFC 6749 sections 4.1.2.1 and 5.2.
    static func errorCode(_ text: String?) -> String {
        guard let text, (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F })
        else { return "not given" }
        return text
    }

    private static let limits = JSONLimits(
        maximumBytes: 65_536,
        maximumDepth: 8,
        maximumNodes: 1024,
        maximumStringBytes: 65_536
    )
}
