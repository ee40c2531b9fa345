// SPDX-License-Identifier: Apache-2.0

/// What a device meets, from the least.
///
/// Source: Google, [Device integrity](https://developer.android.com/google/play/integrity/verdicts#device-integrity-field).
package enum DeviceIntegrity: String, CaseIterable, Comparable, Sendable {
    /// It passes basic checks, and may run any system.
    case basic
    /// A certified device with Google Play.
    case device
    /// The same, with proof by hardware and security updates of the last year.
    case strong

    package static func < (one: DeviceIntegrity, other: DeviceIntegrity) -> Bool { one.rank < other.rank }

    private var rank: Int {
        switch self {
        case .basic: 0
        case .device: 1
        case .strong: 2
        }
    }
}
