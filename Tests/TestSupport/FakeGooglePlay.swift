// SPDX-License-Identifier: Apache-2.0

/// A fake Google Play on 127.0.0.1: it gives access tokens to service accounts, answers the calls of the Android
/// Publisher API that read the catalog and purchases, makes what Pub/Sub pushes, and misbehaves on request.
///
/// The program is in `Tests/Fakes/GooglePlay`, and its README.md has all names and members. It runs until ``stop()``,
/// or until the last reference to this goes, or until the tests die. The calls block, for milliseconds.
package final class FakeGooglePlay: Sendable {
    package enum Scheme: String, Sendable {
        case https, http
    }

    private struct Description: Decodable {
        let origins: [String: String]
        let tlsCAPath: String
    }

    /// The app that there is at first.
    package static let firstApp = "com.example.app"

    private let program: FakeProgram
    private let description: Description

    /// The authority that its TLS certificate ends at.
    package var tlsCAPath: String { description.tlsCAPath }
    /// What it complained of.
    package var complaints: String { program.complaints }

    /// Starts it, and waits until it listens.
    package init() throws {
        program = try FakeProgram("GooglePlay")
        description = try program.description()
    }

    /// Ends it; its ports refuse connections from then on.
    package func stop() {
        program.stop()
    }

    /// Where the API is: scheme, address and port, without a slash at the end.
    package func origin(_ scheme: Scheme = .https) -> String {
        description.origins[scheme.rawValue] ?? ""
    }

    /// Where tokens are asked for; their audience is Google's own address nevertheless.
    package func tokenURL(_ scheme: Scheme = .https) -> String { "\(origin(scheme))/token" }

    /// The JWKS of the keys that sign OIDC tokens.
    package func certificatesURL(_ scheme: Scheme = .https) -> String { "\(origin(scheme))/oauth2/v3/certs" }

    /// Makes a control call; a refusal is thrown with the fake's reason.
    func call<Result: Decodable>(_ name: String, _ arguments: some Encodable) throws -> Result {
        try program.call(name, arguments)
    }

    /// Makes a control call whose answer says nothing.
    func perform(_ name: String, _ arguments: some Encodable) throws {
        try program.perform(name, arguments)
    }
}

extension FakeGooglePlay {
    /// Sets the fake's clock, in milliseconds since 1970, which goes on from there or stops.
    ///
    /// All it does goes by this clock: tokens, purchases, messages.
    package func setTime(milliseconds: Int64, standsStill: Bool = false) throws {
        try perform(
            "setTime",
            ["milliseconds": .integer(Int(milliseconds)), "standsStill": .boolean(standsStill)] as FakeMembers
        )
    }

    /// Goes by the real time again.
    package func setRealTime() throws {
        try perform("setTime", Nothing())
    }

    /// Moves the fake's clock.
    package func advance(days: Int = 0, seconds: Int = 0, milliseconds: Int = 0) throws {
        try perform("advance", ["milliseconds": (days * 86_400 + seconds) * 1000 + milliseconds])
    }

    /// What a server may do this way or that.
    package struct Habits: Encodable, Sendable {
        package enum EmptyLists: String, Encodable, CaseIterable, Sendable {
            /// 200 and `{}`.
            case absent
            /// 204 and no body.
            case noContent
            /// 200 and the member with `[]`.
            case empty
        }

        package var emptyLists: EmptyLists?
        /// Whether false, 0, "" and [] are written.
        package var writesDefaults: Bool?
        /// Digits of fractions of seconds: 0, 3, 6 or 9; otherwise 3, or none if they are zero.
        package var fractionDigits: Int?
        /// Pages have at most this many items.
        package var largestPage: Int?
        package var reversesLists: Bool?
        /// Members that the schema has no longer, which real answers still have: latestOrderId.
        package var writesLegacyMembers: Bool?

        package init(
            emptyLists: EmptyLists? = nil,
            writesDefaults: Bool? = nil,
            fractionDigits: Int? = nil,
            largestPage: Int? = nil,
            reversesLists: Bool? = nil,
            writesLegacyMembers: Bool? = nil
        ) {
            self.emptyLists = emptyLists
            self.writesDefaults = writesDefaults
            self.fractionDigits = fractionDigits
            self.largestPage = largestPage
            self.reversesLists = reversesLists
            self.writesLegacyMembers = writesLegacyMembers
        }
    }

    /// Sets those habits that are named; the others stay as they are.
    package func setHabits(_ habits: Habits) throws {
        try perform("setHabits", habits)
    }
}
