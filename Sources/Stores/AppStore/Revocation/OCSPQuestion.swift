// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import OfferDomain
import ServiceRuntime

/// Why a question to OCSP responders has no answer that is believed.
enum OCSPQuestionError: Error, Hashable, Sendable {
    /// The certificate names no responder that is reached over HTTP.
    case noResponder
    case notAsked(OCSPError)
    case notReached(ClientError)
    case httpStatus(Int)
    case notBelieved(OCSPError)

    /// A short name for metrics and logs, from a closed list.
    var label: String {
        switch self {
        case .noResponder: "no-responder"
        case .notAsked: "not-asked"
        case .notReached(let error): error.label
        case .httpStatus: "http-status"
        case .notBelieved(let error): error.label
        }
    }
}

/// Asks the responders that a certificate names whether it has been revoked.
///
/// The certificate must belong to a verified chain: unverified input must not decide which hosts the service calls.
/// Plain HTTP is right here, since responses are signed. Source: RFC 6960 appendix A.
struct OCSPQuestion: Sendable {
    let certificate: Certificate
    let issuer: Certificate
    let nonce: [UInt8]

    /// The first valid answer, in the certificate's order of responders; otherwise the error of the last one.
    func ask(_ transport: any Transport, _ clock: WallClock) async -> Result<OCSPStatus, OCSPQuestionError> {
        let request: OCSPRequest
        do {
            request = try OCSPRequest(for: certificate, issuer: issuer, nonce: nonce)
        } catch {
            return .failure(.notAsked(error))
        }
        var failure = OCSPQuestionError.noResponder
        for address in request.responders {
            do throws(OCSPQuestionError) {
                return .success(try await answer(to: request, from: address, transport, clock))
            } catch {
                failure = error
            }
        }
        return .failure(failure)
    }

    private func answer(
        to request: OCSPRequest,
        from address: String,
        _ transport: any Transport,
        _ clock: WallClock
    ) async throws(OCSPQuestionError) -> OCSPStatus {
        var headers = HeaderFields()
        headers.append("Content-Type", OCSPRequest.mediaType)
        headers.append("Accept", "application/ocsp-response")
        let response: ClientResponse
        do throws(ClientError) {
            response = try await transport.send(
                try ClientRequest(.post, url: address, headers: headers, body: request.der)
            )
        } catch {
            throw .notReached(error)
        }
        guard response.status == 200 else { throw .httpStatus(response.status) }
        do throws(OCSPError) {
            return try request.status(from: response.body, at: clock.now().seconds)
        } catch {
            throw .notBelieved(error)
        }
    }
}
