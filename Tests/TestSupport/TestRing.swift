// SPDX-License-Identifier: Apache-2.0
import Foundation
package import Testing

/// The rings of checks, as `CONTRIBUTING.md` lists them: each holds the tests of those before it.
package enum TestRing: String, CaseIterable, Sendable {
    /// `make test`: whether the product works.
    case test
    /// `make check`: the other checks that a change must pass.
    case check
    /// `make nightly`: the long forms.
    case nightly

    /// The ring of this run, from `OFFER_SIGNER_TEST_RING`; `test` unless it is set.
    package static let ofRun: TestRing = {
        guard let name = ProcessInfo.processInfo.environment["OFFER_SIGNER_TEST_RING"] else { return .test }
        guard let ring = TestRing(rawValue: name) else {
            preconditionFailure("OFFER_SIGNER_TEST_RING is \(name); expected test, check or nightly")
        }
        return ring
    }()

    /// Whether this run includes the tests of `ring`.
    package static func includes(_ ring: TestRing) -> Bool {
        allCases.prefix { $0 != ofRun }.contains(ring) || ring == ofRun
    }

    /// How often a test repeats what it does: `few` times, or `many` in `make nightly`.
    package static func rounds(_ few: Int, nightly many: Int) -> Int { ofRun == .nightly ? many : few }
}

extension Trait where Self == ConditionTrait {
    /// For tests that `make test` leaves to a later ring.
    package static func ring(_ ring: TestRing) -> Self {
        .enabled(if: TestRing.includes(ring), "runs with OFFER_SIGNER_TEST_RING=\(ring.rawValue)")
    }
}
