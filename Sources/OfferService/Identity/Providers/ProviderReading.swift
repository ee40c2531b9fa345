// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import JSON
import Stores

/// Reads a provider's discovery document and its keys, once.
struct ProviderReading: Sendable {
    /// What an answer with keys comes to.
    enum Answer: Sendable {
        case keys(TokenKeySet, entityTag: [UInt8]?)
        /// The provider has the same keys as before.
        case unchanged
    }

    let transport: any Transport
    let timeoutMilliseconds: Int

    /// The address of the key set, which the discovery document says.
    ///
    /// Source: OpenID Connect Discovery 1.0 sections 4.2 and 4.3.
    func jwksURL(_ source: IdentityProvider.KeySource) async throws(ProviderFault) -> String {
        if let url = source.jwksURL { return url }
        let members = try await discovery(source)
        guard let url = members["jwks_uri"]?.string else { throw .jwksURLMissing }
        guard ProviderAddress.isAllowed(url, namedBy: source.discoveryURL) else { throw .jwksURLUnfit }
        return url
    }

    /// The address of the key set, or the one of before where the discovery document can't be read just now.
    func jwksURL(_ source: IdentityProvider.KeySource, lastKnown: String?) async throws(ProviderFault) -> String {
        do throws(ProviderFault) {
            return try await jwksURL(source)
        } catch {
            switch error {
            case .noAnswer, .status: if let lastKnown { return lastKnown }
            default: break
            }
            throw error
        }
    }

    /// The keys at that address, unless they are those of the tag; and for how many seconds they may be used, if said.
    func keys(
        _ url: String,
        unless entityTag: [UInt8]? = nil
    ) async throws(ProviderFault) -> (answer: Answer, maximumAge: Int64?) {
        let response = try await get(url, entityTag: entityTag)
        let age = response.maximumAgeSeconds
        if response.status == 304 { return (.unchanged, age) }
        do throws(TokenKeySetFault) {
            let tag = response.headers.only("etag").map(Array.init)
            return (.keys(try TokenKeySet(response.body), entityTag: tag), age)
        } catch {
            throw .keys(error)
        }
    }

    /// Reads the discovery document, which must name the expected issuer.
    func discovery(_ source: IdentityProvider.KeySource) async throws(ProviderFault) -> JSONObject {
        let answer = try await get(source.discoveryURL, entityTag: nil)
        guard let members = (try? JSONDocument(answer.body, limits: Self.limits))?.root.object else {
            throw .discoveryNotJSON
        }
        guard members["issuer"]?.string(equals: source.issuer) == true else { throw .otherIssuer }
        return members
    }

    private func get(_ url: String, entityTag: [UInt8]?) async throws(ProviderFault) -> ClientResponse {
        var headers = HeaderFields()
        headers.append("Accept", "application/json")
        if let entityTag, (1...256).contains(entityTag.count) {
            headers.append("If-None-Match", String(decoding: entityTag, as: UTF8.self))
        }
        let response: ClientResponse
        do throws(ClientError) {
            var request = try ClientRequest(.get, url: url, headers: headers)
            request.timeoutMilliseconds = timeoutMilliseconds
            request.maximumResponseBytes = TokenKeySet.maximumBytes
            response = try await transport.send(request)
        } catch {
            throw .noAnswer(error.label)
        }
        switch response.status {
        case 200: return response
        case 304 where entityTag != nil: return response
        case 300..<400: throw .redirect(response.status)
        default: throw .status(response.status)
        }
    }

    private static let limits = JSONLimits(
        maximumBytes: TokenKeySet.maximumBytes,
        maximumDepth: 8,
        maximumNodes: 4096
    )
}
