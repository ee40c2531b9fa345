// SPDX-License-Identifier: Apache-2.0

/// An OpenID Connect provider on 127.0.0.1 that issues tokens, publishes its keys, and misbehaves on request.
///
/// The program is in `Tests/Fakes/IdentityProvider`. It runs until ``stop()``, or until the last reference to this goes, or
/// until the tests die. The calls block, for milliseconds.
package final class FakeIdentityProvider: Sendable {
    /// How it answers.
    package enum Mode: String, CaseIterable, Sendable {
        case good, status, hang, close, redirect, garbage, endless, short
        case otherIssuer, plainJWKS, noJWKS, repeated, many
    }

    private struct Description: Decodable {
        let issuer: String
    }

    private let program: FakeProgram
    package let issuer: String

    /// Starts it, and waits until it listens; it publishes the key `es1`.
    package init() throws {
        program = try FakeProgram("IdentityProvider")
        let description: Description = try program.description()
        issuer = description.issuer
    }

    /// Ends it; its port refuses connections from then on.
    package func stop() { program.stop() }

    package func behave(_ mode: Mode = .good, delayMilliseconds: Int = 0, cacheControl: String? = nil) throws {
        struct Arguments: Encodable {
            let mode: String
            let delay: Int
            let cacheControl: String?
        }
        try program.perform(
            "behave",
            Arguments(mode: mode.rawValue, delay: delayMilliseconds, cacheControl: cacheControl)
        )
    }

    /// Holds each reading of the keys from now on, with the keys that are published when it comes, until ``release()``.
    ///
    /// `releasingHeld` lets those go on that are held already.
    package func hold(releasingHeld: Bool = false) throws { try program.perform("hold", ["release": releasingHeld]) }

    /// Lets the readings go on that are held, and all others.
    package func release() throws { try program.perform("release", Nothing()) }

    /// Publishes the keys at another path alone; with `nil` the discovery document can't be read any more.
    package func move(to path: String?) throws { try program.perform("move", ["path": path]) }

    /// Publishes the keys of those names, and further ones as JSON.
    package func publish(_ keys: [String], extra: String = "[]") throws {
        struct Arguments: Encodable {
            let keys: [String]
            let extra: String
        }
        try program.perform("publish", Arguments(keys: keys, extra: extra))
    }

    /// A token; the key's name begins with `es`, `rs`, `ps` or `ed`, and `form` may name a wrong way to sign.
    package func sign(key: String = "es1", header: String, payload: String, form: String = "") throws -> String {
        struct Arguments: Encodable {
            let key: String
            let header: String
            let payload: String
            let form: String
        }
        return try program.call("sign", Arguments(key: key, header: header, payload: payload, form: form))
    }

    /// A key of a device; ``sign(key:header:payload:form:)`` uses its private half.
    package struct DeviceKey: Decodable, Sendable {
        package let jwk: String
        package let thumbprint: String
    }

    package func deviceKey(_ name: String) throws -> DeviceKey {
        try program.call("device_key", ["key": name])
    }

    /// Changes members of the discovery document, as JSON; `null` leaves one out.
    package func describe(_ members: String) throws { try program.perform("describe", ["members": members]) }

    /// What the token endpoint answers for a code: JSON, if the verifier fits the challenge, mostly once.
    package func setCode(
        _ code: String,
        answer: String,
        challenge: String = "",
        status: Int = 200,
        reuses: Bool = false
    ) throws {
        struct Arguments: Encodable {
            let code: String
            let answer: String
            let challenge: String
            let status: Int
            let reuses: Bool
        }
        try program.perform(
            "code",
            Arguments(code: code, answer: answer, challenge: challenge, status: status, reuses: reuses)
        )
    }

    /// The members of every request to the token endpoint, with the header `authorization`.
    package func asked() throws -> [[String: String]] { try program.call("asked", Nothing()) }

    /// How often each path was asked for.
    package func counts() throws -> [String: Int] {
        try program.call("counts", Nothing())
    }
}
