// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The page for auditors, used in a real browser as people use it.
    ///
    /// `Checkers/Console` clicks, types and reads, and judges what it finds: that every text has enough contrast and
    /// every field a name, that nothing scrolls sideways at 390 pixels, that the browser complains of nothing, and that
    /// nobody but the service is asked.
    @Suite struct ConsoleTests {
        @Test(arguments: ConsoleVisit.all)
        func `the console, in a browser,`(_ visit: ConsoleVisit) async throws {
            let place = try await ConsolePlace()
            let settings = place.demo.directory.path(of: "settings.json")
            try JSONEncoder().encode(place.settings).write(to: URL(filePath: settings))
            let checker = Program.checker("Console/console")
            let outcome = try await runProcess([Program.python, "-B", checker, settings] + visit.scenarios)
            #expect(outcome.succeeded, "\(outcome)")
            #expect(outcome.output.split(separator: "\n").count == visit.scenarios.count)
        }
    }
}

/// What is tried in one browser, at one service.
struct ConsoleVisit: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// By their names in `console.py`.
    let scenarios: [String]

    static let all = [
        ConsoleVisit(
            testDescription: "takes the key of an auditor alone, and says what is wrong with another",
            scenarios: ["wrong-keys"]
        )
    ]
}
