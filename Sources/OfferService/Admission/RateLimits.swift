// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

extension RateLimit {
    /// The rate of diagnoses for each caller.
    static let diagnoses = RateLimit(10, per: .second, burst: 20)

    /// The rate of steps of sign-ins to the console, for each network address.
    static let signIns = RateLimit(60, per: .minute, burst: 60)
}
