// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// Why a token of Play Integrity does not prove that the app is genuine.
package enum PlayIntegrityFault: Error, Hashable, Sendable {
    /// Not one of each header, or not of their form.
    case headers
    /// Google says that it is no token, or one of another app.
    case token
    /// The token was asked for by another app.
    case otherApp
    /// The token was asked for another request, or with another nonce.
    case otherRequest
    /// The token was asked for too long ago, or at a time that is still to come.
    case time
    /// Google has evaluated nothing, as of a token that was decoded before.
    case unevaluated
    /// Google Play does not know the app's build, and neither do the settings.
    case unrecognized
    /// The device meets less than the settings demand.
    case device(DeviceIntegrity?)
    /// The user did not get the app from Google Play.
    case unlicensed
    /// A request with this token, or with the same nonce and content, came before.
    case spent

    /// The reason in a few lowercase words joined by hyphens, for metrics and logs.
    package var label: String {
        switch self {
        case .headers: "headers"
        case .token: "token"
        case .otherApp: "other-app"
        case .otherRequest: "other-request"
        case .time: "time"
        case .unevaluated: "unevaluated"
        case .unrecognized: "unrecognized"
        case .device: "device"
        case .unlicensed: "unlicensed"
        case .spent: "spent"
        }
    }
}

extension PlayIntegrityFault: CustomStringConvertible {
    /// One sentence for the log; callers see no reason beyond what to do.
    package var description: String {
        switch self {
        case .headers: "The request does not have exactly one of each Play-Integrity header, in the required form."
        case .token: "Google does not accept the token as one of this app."
        case .otherApp: "The token belongs to an app other than the one in the request."
        case .otherRequest: "The token's request hash is for another request or nonce."
        case .time: "The app did not request the token within the last five minutes."
        case .unevaluated: "The token has no verdicts, as when it was decoded before."
        case .unrecognized:
            "Google Play does not recognize the build, and otherCertificates has none of its certificates."
        case .device(let found): "The device meets \(found?.rawValue ?? "nothing"), and deviceIntegrity requires more."
        case .unlicensed: "The user did not get the app from Google Play, and playIntegrity.licensed requires it."
        case .spent: "The service has already received a request with the same nonce and content."
        }
    }
}
