// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON

/// What a provider's discovery document says of signing in.
///
/// Source: OpenID Connect Discovery 1.0 section 3, RFC 8414 section 2.
struct ProviderMetadata: Sendable {
    let authorizationURL: String
    let tokenURL: String
    /// Where people sign out at the provider; `nil` if it has no such address.
    let endSessionURL: String?
    /// Whether the provider's answers name their issuer (RFC 9207), so that an answer without an issuer is refused.
    let namesIssuer: Bool
    /// Whether the client's secret goes into the body, because the provider takes it in no header.
    let wantsSecretInBody: Bool

    /// Reads the document at that address.
    init(_ members: JSONObject, from document: String) throws(SignInFault) {
        authorizationURL = try Self.url("authorization_endpoint", in: members, of: document)
        tokenURL = try Self.url("token_endpoint", in: members, of: document)
        let hasEnd = members["end_session_endpoint"] != nil
        endSessionURL = try hasEnd ? Self.url("end_session_endpoint", in: members, of: document) : nil
        namesIssuer = members["authorization_response_iss_parameter_supported"]?.bool ?? false
        let methods = Self.texts("token_endpoint_auth_methods_supported", members)
        wantsSecretInBody =
            methods.map { !$0.contains("client_secret_basic") && $0.contains("client_secret_post") } ?? false
        // A provider that lists its methods and not S256 would ignore the challenge.
        if let challenges = Self.texts("code_challenge_methods_supported", members), !challenges.contains("S256") {
            throw .metadata("has code_challenge_methods_supported without S256")
        }
        if let types = Self.texts("response_types_supported", members), !types.contains("code") {
            throw .metadata("has response_types_supported without code")
        }
    }

    private static func url(
        _ name: String,
        in members: JSONObject,
        of document: String
    ) throws(SignInFault) -> String {
        guard let value = members[name] else { throw .metadata("has no \(name)") }
        guard let url = value.string, ProviderAddress.isAllowed(url, namedBy: document) else {
            throw .metadata("has a \(name) that is not https, or is on a private network that the issuer is not on")
        }
        return url
    }

    private static func texts(_ name: String, _ members: JSONObject) -> [String]? {
        members[name]?.array.map { $0.compactMap(\.string) }
    }

    /// An address with these parameters beside what it has.
    static func with(_ parameters: [(String, String)], at url: String) -> String {
        url + (url.contains("?") ? "&" : "?") + FormEncoding.text(parameters)
    }
}

/// `application/x-www-form-urlencoded`, in the form that is also good in a URL.
enum FormEncoding {
    static func text(_ parameters: [(String, String)]) -> String {
        parameters.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
    }

    /// All but RFC 3986's unreserved characters as `%XX`.
    static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ProviderReading {
    /// What the provider's discovery document says of signing in.
    func metadata(_ source: IdentityProvider.KeySource) async throws(SignInFault) -> ProviderMetadata {
        let members: JSONObject
        do throws(ProviderFault) { members = try await discovery(source) } catch { throw .discovery(error) }
        return try ProviderMetadata(members, from: source.discoveryURL)
    }
}
