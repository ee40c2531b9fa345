// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

extension EndToEnd {
    /// The verifiers are themselves to be trusted: they take what is whole, and refuse what is not.
    @Suite(.ring(.check)) struct LogVerifierTests {
        @Test func `the verifiers pass their own tests, on logs that the service did not write`() async throws {
            let outcome = try await LogVerifier.go("test", "-count=1", "-vet=all", "-timeout=600s", ".")
            #expect(outcome.succeeded, "\(outcome)")
        }

        @Test func `the verifier's source is formatted`() async throws {
            let outcome = try await runProcess(["/usr/lib/go-1.19/bin/gofmt", "-l", LogVerifier.folder])
            #expect(outcome.succeeded && outcome.output.isEmpty, "\(outcome)")
        }
    }
}
