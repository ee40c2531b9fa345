// SPDX-License-Identifier: Apache-2.0

/// How the app that asks came onto the device, as the system says it.
///
/// Source: Apple's validation categories, in the
/// [Attestation Object Validation Guide](https://developer.apple.com/documentation/devicecheck/attestation-object-validation-guide);
/// Google's [integrity verdicts](https://developer.android.com/google/play/integrity/verdicts).
package enum AppOrigin: String, CaseIterable, Sendable {
    case appStore
    case testFlight
    /// From Xcode, or by ad hoc distribution.
    case development
    case enterprise
    /// A Mac app from elsewhere than the App Store, signed with a Developer ID.
    case developerID = "developerId"
    /// A build that Google Play distributes and recognizes.
    case playStore
    /// Another category of Apple's, or a build that Google Play does not know.
    case other
}
