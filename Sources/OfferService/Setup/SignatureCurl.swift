// SPDX-License-Identifier: Apache-2.0
package import Configuration
import ServiceRuntime

/// A `curl` that asks for a promotional offer's signature and saves the answer, to be pasted into a shell.
///
/// - Parameters:
///   - url: Where the service is, without a path.
///   - apiKey: The file with the API key.
///   - request: The file with the request.
/// - Returns: Lines that go on with a backslash.
package func signatureCurl(url: String, apiKey: String, request: String) -> String {
    """
    curl -sS \(url)\(OfferRoute.promotionalOfferSignature.rawValue) \\
      -H "Authorization: Bearer $(cat \(shellWord(apiKey)))" \\
      -H 'Content-Type: application/json' \\
      -d @\(shellWord(request)) | tee answer.json
    """
}

extension ListenAddress {
    /// The URL at which a client on the same machine reaches a service that listens here, without TLS.
    package var localURL: String {
        let reachable = ["0.0.0.0": "127.0.0.1", "::": "::1"][host] ?? host
        return "http://\(reachable.contains(":") ? "[\(reachable)]" : reachable):\(port)"
    }
}
