// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// Why a provider's keys could not be read; these are all the ways.
package enum ProviderFault: Error, Hashable, Sendable {
    /// Nothing that is an HTTP answer came back, and why.
    case noAnswer(String)
    case redirect(Int)
    case status(Int)
    case discoveryNotJSON
    /// The discovery document is another issuer's.
    case otherIssuer
    case jwksURLMissing
    /// Not https, or on a network that the issuer's address is not on.
    case jwksURLUnfit
    case keys(TokenKeySetFault)

    /// The reason in a few lowercase words joined by hyphens, for metrics and logs.
    package var label: String {
        switch self {
        case .noAnswer(let label): label
        case .redirect: "redirect"
        case .status: "status"
        case .discoveryNotJSON: "discovery-not-json"
        case .otherIssuer: "other-issuer"
        case .jwksURLMissing, .jwksURLUnfit: "jwks-uri"
        case .keys: "bad-key-set"
        }
    }
}

extension ProviderFault: CustomStringConvertible {
    /// What is wrong, as the end of a sentence.
    package var description: String {
        switch self {
        case .noAnswer(let label): "did not answer (\(label))"
        case .redirect(let status): "answers with a redirect (\(status)), which is not followed; name the final address"
        case .status(let status): "answers with status \(status) instead of 200"
        case .discoveryNotJSON: "answers with a discovery document that is no strict JSON object of at most 64 KiB"
        case .otherIssuer:
            "answers with a discovery document of another issuer; compare issuer in the keys file with it"
        case .jwksURLMissing: "answers with a discovery document without jwks_uri"
        case .jwksURLUnfit:
            "answers with a discovery document whose jwks_uri is not https, or is on a private network; "
                + "if that is right, set jwksUri in the keys file"
        case .keys(let fault): "answers with keys that can't be used: \(fault)"
        }
    }
}
