// SPDX-License-Identifier: Apache-2.0

extension Rule {
    /// Evaluates a rule about the app that sends the request.
    func app(_ facts: AppFacts) -> Finding {
        switch self {
        case .appOrigin(let list):
            answer(facts.origin.map(list.contains), (.appOriginMatches, .appOriginDiffers, .appOriginUnknown))
        case .deviceIntegrity(let least):
            answer(
                facts.device.map { $0 >= least },
                (.deviceIntegrityMet, .deviceIntegrityLower, .deviceIntegrityUnknown)
            )
        case .appLicensed(let wanted):
            Finding(
                self,
                facts.isLicensed.map { Answer($0 == wanted) } ?? .undecided,
                because: facts.isLicensed.map { $0 ? .appLicensed : .appNotLicensed } ?? .appLicenseUnknown
            )
        default: preconditionFailure("not a rule about the app")
        }
    }
}

extension Finding {
    /// The reason of a rule about the app.
    var appSentence: String {
        switch code {
        case .appOriginMatches: "the app comes from one of the places listed"
        case .appOriginDiffers: "the app comes from none of the places listed"
        case .appOriginUnknown:
            "it is not known where the app comes from; send an App Attest assertion of iOS 27 or later or a token of Play "
                + "Integrity, or as a backend facts.appOrigin"
        case .deviceIntegrityMet: "the app's device meets the integrity that is needed"
        case .deviceIntegrityLower: "the app's device meets a lower integrity than is needed"
        case .deviceIntegrityUnknown:
            "it is not known which integrity the app's device meets; send a token of Play Integrity, or as a backend "
                + "facts.deviceIntegrity"
        case .appLicensed: "the user got the app from Google Play"
        case .appNotLicensed: "the user did not get the app from Google Play"
        default:
            "it is not known whether the user got the app from Google Play; send a token of Play Integrity, or as a "
                + "backend facts.appLicensed"
        }
    }
}
