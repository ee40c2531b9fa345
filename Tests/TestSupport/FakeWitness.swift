// SPDX-License-Identifier: Apache-2.0

/// A witness on 127.0.0.1 that co-signs logs that grow, and misbehaves on request.
///
/// The program is in `Tests/Fakes/Witness`. It runs until ``stop()``, or until the last reference to this goes, or until the
/// tests die. The calls block, for milliseconds.
package final class FakeWitness: Sendable {
    /// How it answers.
    package enum Mode: String, Sendable {
        case good, forged, garbage, stranger, lying
        /// With a status instead of looking at the request.
        case status
    }

    private struct Description: Decodable {
        let url: String
        let verifierKey: String
    }

    /// What it has done.
    package struct State: Decodable, Sendable {
        package let size: Int64
        package let requests: Int
        package let cosigned: [Int64]
    }

    private let program: FakeProgram
    private let description: Description

    /// Where it takes checkpoints, without `/add-checkpoint`.
    package var url: String { description.url }
    /// Another way to the same witness.
    package var farURL: String { "\(url)/far" }
    package var verifierKey: String { description.verifierKey }

    /// Starts it, and waits until it listens.
    package init() throws {
        program = try FakeProgram("Witness")
        description = try program.description()
    }

    /// Ends it; its port refuses connections from then on.
    package func stop() {
        program.stop()
    }

    /// Lets it sign for the log of that key.
    package func trust(_ verifierKey: String) throws {
        try program.perform("trust", ["verifierKey": verifierKey])
    }

    /// Lets it forget every log's key, but not what it signed.
    package func distrust() throws {
        try program.perform("distrust", Nothing())
    }

    package func behave(_ mode: Mode = .good, delayMilliseconds: Int = 0, status: Int = 503) throws {
        struct Arguments: Encodable {
            let mode: String
            let delay: Int
            let status: Int
        }
        try program.perform(
            "behave",
            Arguments(mode: mode.rawValue, delay: delayMilliseconds, status: status)
        )
    }

    /// Lets nothing through that comes by ``farURL``, or everything again.
    package func cutOff(_ isCutOff: Bool) throws {
        try program.perform("cutOff", ["isCutOff": isCutOff])
    }

    /// Makes it believe that it signed a tree of that size and root, in Base64.
    package func hold(_ origin: String, size: Int64, root: String) throws {
        struct Arguments: Encodable {
            let origin: String
            let size: Int64
            let root: String
        }
        try program.perform("hold", Arguments(origin: origin, size: size, root: root))
    }

    package func state(of origin: String) throws -> State {
        try program.call("state", ["origin": origin])
    }
}
