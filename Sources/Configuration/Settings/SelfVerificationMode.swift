// SPDX-License-Identifier: Apache-2.0

/// Which fresh signatures the service verifies itself before they leave.
package enum SelfVerificationMode: String, CaseIterable, Hashable, Sendable {
    case always, sampled, off
}
