// SPDX-License-Identifier: Apache-2.0

/// What the app that asks has proven of itself, or a trusted caller states of it; nil is not known.
package struct AppFacts: Hashable, Sendable {
    /// Where the app is from.
    package var origin: AppOrigin?
    /// What Google says that the device meets.
    package var device: DeviceIntegrity?
    /// Whether Google says that the user got the app from Google Play.
    package var isLicensed: Bool?

    /// Each is of this very request.
    package init(origin: AppOrigin? = nil, device: DeviceIntegrity? = nil, isLicensed: Bool? = nil) {
        self.origin = origin
        self.device = device
        self.isLicensed = isLicensed
    }
}
