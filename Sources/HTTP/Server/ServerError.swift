// SPDX-License-Identifier: Apache-2.0

/// Why a server did not start, or kept its old certificate; these are all the ways.
package enum ServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Not a numeric IPv4 or IPv6 address.
    case addressInvalid(String)
    /// `reason` is the system's own words.
    case cannotListen(address: String, port: UInt16, reason: String)
    case certificateUnreadable(path: String, reason: String)
    case privateKeyUnreadable(path: String, reason: String)
    case privateKeyDoesNotMatch(certificatePath: String, privateKeyPath: String)
    /// There is nothing to reload: the server does not speak TLS.
    case notUsingTLS
    /// The system or a library refused a resource; `operation` says which.
    case cannotPrepare(operation: String, reason: String)

    /// A sentence for the operator of the server.
    package var description: String {
        switch self {
        case .addressInvalid(let address):
            "“\(address)” is not a numeric IP address, such as 127.0.0.1 or ::1."
        case .cannotListen(let address, let port, let reason):
            "Cannot listen on \(address), port \(port): \(reason)."
        case .certificateUnreadable(let path, let reason):
            "Cannot read the certificate chain in \(path): \(reason)."
        case .privateKeyUnreadable(let path, let reason):
            "Cannot read the TLS private key in \(path): \(reason)."
        case .privateKeyDoesNotMatch(let certificatePath, let privateKeyPath):
            "The private key in \(privateKeyPath) is not that of the first certificate in \(certificatePath)."
        case .notUsingTLS:
            "This server does not speak TLS, so it has no certificate to reload."
        case .cannotPrepare(let operation, let reason):
            "Cannot \(operation): \(reason)."
        }
    }
}
