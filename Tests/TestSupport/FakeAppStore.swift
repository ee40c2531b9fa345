// SPDX-License-Identifier: Apache-2.0

/// A fake App Store on 127.0.0.1: it signs like Apple with a chain of its own, answers the App Store Server API and OCSP,
/// and misbehaves on request.
///
/// The program is in `Tests/Fakes/AppStore`, and its README.md has all names and members. It runs until ``stop()``, or
/// until the last reference to this goes, or until the tests die. The calls block, for milliseconds.
package final class FakeAppStore: Sendable {
    package enum Environment: String, Codable, CaseIterable, Sendable {
        case production = "Production"
        case sandbox = "Sandbox"
    }

    package enum Scheme: String, Sendable {
        case https, http
    }

    private struct Description: Decodable {
        let origins: [String: [String: String]]
        let ocsp: String
        let rootPEMPath: String
        let tlsCAPath: String
    }

    private let program: FakeProgram
    private let description: Description

    /// The root that its signed data ends at.
    package var rootPEMPath: String { description.rootPEMPath }
    /// The authority that its TLS certificate ends at.
    package var tlsCAPath: String { description.tlsCAPath }
    /// The OCSP responder that its certificates name, up to the last segment of the path.
    package var ocspURL: String { description.ocsp }
    /// What it complained of.
    package var complaints: String { program.complaints }

    /// Starts it, and waits until it listens.
    package init() throws {
        program = try FakeProgram("AppStore")
        description = try program.description()
    }

    /// Ends it; its ports refuse connections from then on.
    package func stop() {
        program.stop()
    }

    /// Where an environment's API is: scheme, address and port, without a slash at the end.
    package func apiOrigin(_ environment: Environment = .production, _ scheme: Scheme = .https) -> String {
        description.origins[scheme.rawValue]?[environment.rawValue] ?? ""
    }

    /// Makes a control call; a refusal is thrown with the fake's reason.
    func call<Result: Decodable>(_ name: String, _ arguments: some Encodable) throws -> Result {
        try program.call(name, arguments)
    }

    /// Makes a control call whose answer says nothing.
    func perform(_ name: String, _ arguments: some Encodable) throws {
        try program.perform(name, arguments)
    }

    package typealias Value = FakeValue
    package typealias Members = FakeMembers
}
