// SPDX-License-Identifier: Apache-2.0
import CCurl

extension ClientError {
    /// Maps libcurl's code to an error; the caller distinguishes the kinds of timeout.
    init(_ code: CURLcode, _ explanation: String) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .cannotResolve
        case CURLE_COULDNT_CONNECT: self = .cannotConnect
        case CURLE_OPERATION_TIMEDOUT: self = .timeout
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: self = .certificateNotTrusted(explanation)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_ENGINE_NOTFOUND, CURLE_USE_SSL_FAILED:
            self = .tls(explanation)
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2,
            CURLE_HTTP2_STREAM:
            self = .connectionLost(explanation)
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
            self = .protocolViolation(explanation)
        default: self = .library(code: Int(code.rawValue), explanation)
        }
    }
}
