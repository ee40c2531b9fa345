// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The page for auditors, used in a real browser as people use it.
    ///
    /// `Checkers/Console` clicks, types and reads, and judges what it finds: that every text has enough contrast and
    /// every field a name, that nothing scrolls sideways at 390 pixels, that the browser complains of nothing, and that
    /// it sends requests to the service only.
    @Suite struct ConsoleTests {
        /// By their names in `console.py`, which says what each is about; what changes the service comes last.
        private static let scenarios =
            TestRing.includes(.check)
            ? [
                "sign-in", "wrong-keys", "overview", "three-clicks", "search", "entry", "other-views", "customers",
                "keyboard", "tampering", "other-log-key", "hostile-text", "outages", "diagnosis", "list-comfort",
                "events", "administration",
            ]
            : [
                "sign-in", "overview", "entry", "customers", "tampering", "hostile-text", "diagnosis", "administration",
            ]

        @Test(.disabled(if: Sanitizer.isActive, "no program starts with a sanitizer and libfaketime"))
        func `people find, verify and do in a browser what the console is for`() async throws {
            let place = try await ConsolePlace()
            let settings = place.demo.directory.path(of: "settings.json")
            try JSONEncoder().encode(place.settings).write(to: URL(filePath: settings))
            let outcome = try await runProcess(
                [Program.python, "-B", Program.checker("Console/console"), settings] + Self.scenarios,
                patience: 600
            )
            for scenario in Self.scenarios {
                #expect(outcome.output.contains("\(scenario): as it should be"), "\(scenario)")
            }
            #expect(outcome.succeeded, "\(outcome)")
        }
    }
}
