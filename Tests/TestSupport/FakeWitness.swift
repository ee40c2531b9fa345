// SPDX-License-Identifier: Apache-2.0

/// A witness of transparency logs on 127.0.0.1: it cosigns what grew, refuses what did not, and misbehaves on request.
///
/// The program is in `Tests/Fakes/Witness`, and its README.md has all names and members. It runs until ``stop()``, or
/// until the last reference to this goes, or until the tests die. The calls block, for milliseconds.
package final class FakeWitness: Sendable {
    private struct Description: Decodable {
        let origins: [String: String]
        let tlsCAPath, vkey: String
    }

    private let program: FakeProgram
    private let description: Description

    /// Its key, as NAME+HASH+BASE64; of a type of its own (4), which cosigns.
    package var verifierKey: String { description.vkey }
    /// Where `add-checkpoint` is, without TLS and without a slash at the end.
    package var url: String { description.origins["http"] ?? "" }
    /// The same, by TLS.
    package var urlByTLS: String { description.origins["https"] ?? "" }
    /// The authority that its TLS certificate ends at.
    package var tlsCAPath: String { description.tlsCAPath }
    /// What it complained of.
    package var complaints: String { program.complaints }

    /// Starts it, and waits until it listens.
    package init() throws {
        program = try FakeProgram("Witness")
        description = try program.description()
    }

    /// Ends it; its ports refuse connections from then on.
    package func stop() {
        program.stop()
    }

    /// How far it has seen a log.
    package struct Seen: Hashable, Decodable, Sendable {
        package let size: Int64
        /// In base64.
        package let rootHash: String
    }

    /// Knows a log by its verifier key, from its beginning.
    package func trust(_ verifierKey: String) throws {
        try program.perform("trust", ["vkey": verifierKey])
    }

    /// How far it has seen a log that it knows.
    package func seen(_ origin: String) throws -> Seen {
        try program.call("seen", ["origin": origin])
    }

    /// The text of each checkpoint that it cosigned, from the oldest.
    package func cosigned() throws -> [String] {
        struct Texts: Decodable {
            struct Checkpoint: Decodable { let text: String }
            let checkpoints: [Checkpoint]
        }
        let texts: Texts = try program.call("cosigned", Nothing())
        return texts.checkpoints.map(\.text)
    }

    /// How many checkpoints were submitted.
    package func submissions() throws -> Int {
        struct Counts: Decodable { let requests: [String: Int] }
        let counts: Counts = try program.call("counts", Nothing())
        return counts.requests["addCheckpoint"] ?? 0
    }

    /// A way to be rude.
    package struct Misbehaviour: FakeMisbehaviour {
        package let kind: String
        package let arguments: FakeMembers

        /// Any kind that `Tests/Fakes/Witness/fake.py` has, or any fake.
        package init(_ kind: String, _ arguments: FakeMembers) {
            self.kind = kind
            self.arguments = arguments
        }

        /// A cosignature by another key, under the same name.
        package static let otherWitness = Misbehaviour("otherWitness")
        /// A cosignature that does not verify.
        package static let brokenSignature = Misbehaviour("brokenSignature")
    }

    /// Misbehaves for the next so many requests, or until ``behave()``.
    package func misbehave(_ misbehaviour: Misbehaviour, times: Int? = nil) throws {
        var arguments = misbehaviour.arguments
        arguments["kind"] = .text(misbehaviour.kind)
        if let times { arguments["times"] = .integer(times) }
        try program.perform("misbehave", arguments)
    }

    /// Ends all misbehaviour.
    package func behave() throws {
        try program.perform("behave", Nothing())
    }

    /// Closes the ports, ending all connections, or opens them again.
    package func listen(_ isOpen: Bool) throws {
        try program.perform("listen", ["isOpen": isOpen])
    }
}
