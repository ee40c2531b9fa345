// SPDX-License-Identifier: Apache-2.0

/// Why a request has no answer; these are all the ways.
///
/// Except for ``requestInvalid(_:)``, ``plainHTTPNotAllowed``, ``tooManyWaiting(limit:)`` and ``stopped`` (before the
/// transfer), the server may have received the request.
package enum ClientError: Error, Hashable, Sendable {
    /// Our own mistake, or data that must not reach a request; nothing was sent.
    case requestInvalid(String)
    /// The origin is `http`, and the configuration does not allow that.
    case plainHTTPNotAllowed
    case cannotResolve
    case cannotConnect
    /// The host has no address that may be connected to.
    case addressNotAllowed
    /// No connection, TLS included, within its own time.
    case connectTimeout
    /// No whole answer within the request's time.
    case timeout
    /// The certificate's chain does not lead to a trusted one, it is not valid now, or it names another host.
    case certificateNotTrusted(String)
    /// TLS failed in another way.
    case tls(String)
    case responseTooLarge(limitBytes: Int)
    case headTooLarge(limitBytes: Int)
    /// The connection ended before the answer did.
    case connectionLost(String)
    /// The answer is not HTTP as we read it.
    case protocolViolation(String)
    /// Already `limit` requests to that origin are unfinished.
    case tooManyWaiting(limit: Int)
    /// The request was never sent: all allowed connections to that origin were in use until its time ran out.
    case waitedTooLong
    /// The task was cancelled.
    case cancelled
    /// The client is not running, or stopped meanwhile.
    case stopped
    /// libcurl failed in a way of its own, such as for want of memory.
    case library(code: Int, String)

    /// A short name for metrics, from a closed list.
    package var label: String {
        switch self {
        case .requestInvalid: "request-invalid"
        case .plainHTTPNotAllowed: "plain-http-not-allowed"
        case .cannotResolve: "cannot-resolve"
        case .cannotConnect: "cannot-connect"
        case .addressNotAllowed: "address-not-allowed"
        case .connectTimeout: "connect-timeout"
        case .timeout: "timeout"
        case .certificateNotTrusted: "certificate-not-trusted"
        case .tls: "tls"
        case .responseTooLarge: "response-too-large"
        case .headTooLarge: "head-too-large"
        case .connectionLost: "connection-lost"
        case .protocolViolation: "protocol-violation"
        case .tooManyWaiting: "too-many-waiting"
        case .waitedTooLong: "waited-too-long"
        case .cancelled: "cancelled"
        case .stopped: "stopped"
        case .library: "library"
        }
    }
}

extension ClientError: CustomStringConvertible {
    /// A sentence for the operator; it contains no part of the request.
    package var description: String {
        switch self {
        case .requestInvalid(let reason): "The request can't be sent: \(reason)."
        case .plainHTTPNotAllowed: "The request would go over plain HTTP, which is not allowed."
        case .cannotResolve: "The host's name has no address."
        case .cannotConnect: "No connection could be made."
        case .addressNotAllowed: "The host has no public address, and no listed network has one of its addresses."
        case .connectTimeout: "No connection was made in time."
        case .timeout: "The whole answer did not arrive in time."
        case .certificateNotTrusted(let reason): "The server's certificate is not trusted: \(reason)."
        case .tls(let reason): "TLS failed: \(reason)."
        case .responseTooLarge(let limit): "The answer's body has more than \(limit) bytes."
        case .headTooLarge(let limit): "The answer's head has more than \(limit) bytes."
        case .connectionLost(let reason): "The connection ended before the answer was complete: \(reason)."
        case .protocolViolation(let reason): "The answer is not proper HTTP: \(reason)."
        case .tooManyWaiting(let limit): "\(limit) requests to that server are already waiting."
        case .waitedTooLong: "No connection to that server became free in time."
        case .cancelled: "The request was cancelled."
        case .stopped: "The client does not run."
        case .library(let code, let reason): "libcurl failed with code \(code): \(reason)."
        }
    }
}
