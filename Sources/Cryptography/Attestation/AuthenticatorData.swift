// SPDX-License-Identifier: Apache-2.0

/// What the Secure Enclave's key says of the app beside it: the start of attestations and of assertions.
///
/// Source: [Web Authentication](https://www.w3.org/TR/webauthn-3/#sctn-authenticator-data), section 6.1.
struct AuthenticatorData {
    /// The SHA-256 of the app's ID, `TEAMID.bundle.id`.
    let appIDHash: SHA256Digest
    /// How many assertions the key has signed; 0 in an attestation.
    let counter: UInt32
    /// All that follows.
    private let rest: ArraySlice<UInt8>

    /// As many bytes as each has at least.
    private static let leastBytes = 37

    init(_ bytes: [UInt8]) throws(AppAttestFault) {
        guard bytes.count >= Self.leastBytes, let hash = SHA256Digest(bytes: Array(bytes.prefix(32))) else {
            throw .authenticatorData
        }
        appIDHash = hash
        counter = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        rest = bytes[Self.leastBytes...]
    }

    /// The key that an attestation describes, and the extensions after it.
    ///
    /// The length says what follows. Apple's flags do not help: they never announce extensions, and they announce a key
    /// in assertions, too.
    func credential() throws(AppAttestFault) -> (credential: AttestedCredential, extensions: AppExtensions) {
        guard rest.count > 18 else { throw .authenticatorData }
        let start = rest.startIndex
        let idCount = Int(rest[start + 16]) << 8 | Int(rest[start + 17])
        guard idCount == 32 else { throw .credentialID }
        guard rest.count > 50 else { throw .authenticatorData }
        let (key, extensions) = try Self.values(rest[(start + 50)...])
        guard let point = key.flatMap(Self.point) else { throw .credentialKey }
        let credential = AttestedCredential(
            environment: AppAttestEnvironment(aaguid: rest[start..<start + 16]),
            id: Array(rest[start + 18..<start + 50]),
            point: point
        )
        return (credential, try AppExtensions(extensions))
    }

    /// The extensions of an assertion, which says nothing of its key.
    func assertedExtensions() throws(AppAttestFault) -> AppExtensions {
        guard !rest.isEmpty else { return AppExtensions() }
        let (extensions, other) = try Self.values(rest)
        guard other == nil else { throw .authenticatorData }
        return try AppExtensions(extensions)
    }

    /// One value of CBOR or two, and nothing after them.
    private static func values(_ bytes: ArraySlice<UInt8>) throws(AppAttestFault) -> (CBORValue?, CBORValue?) {
        do throws(CBORFault) {
            var reader = try CBORReader(bytes)
            let first = try reader.value()
            let second = reader.isAtEnd ? nil : try reader.value()
            guard reader.isAtEnd else { throw .trailingBytes }
            return (first, second)
        } catch {
            throw .cbor(error)
        }
    }

    /// The point of a key on P-256 for ES256, as COSE writes it (RFC 9053 section 7.1.1), without compression.
    private static func point(_ key: CBORValue) -> [UInt8]? {
        guard case .map(let members) = key, members.count == 5, members[.integer(1)] == .integer(2),
            members[.integer(3)] == .integer(-7), members[.integer(-1)] == .integer(1),
            case .bytes(let x)? = members[.integer(-2)], case .bytes(let y)? = members[.integer(-3)],
            x.count == 32, y.count == 32
        else { return nil }
        return [4] + x + y
    }
}

/// The key that is attested, as the authenticator data says it.
struct AttestedCredential {
    /// `nil` if the identifier is not one of Apple's.
    let environment: AppAttestEnvironment?
    let id: [UInt8]
    /// 65 bytes.
    let point: [UInt8]
}

/// Which of Apple's services attested a key.
///
/// Apps from the App Store, TestFlight and enterprises always use production; a build that a developer runs uses what its
/// entitlement says.
package enum AppAttestEnvironment: String, CaseIterable, Hashable, Sendable {
    case production, development

    /// By the identifier in authenticator data; the sandbox is the newer name of development.
    init?(aaguid: ArraySlice<UInt8>) {
        if aaguid.elementsEqual(Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)) {
            self = .production
        } else if ["appattestdevelop", "appattestsandbox"].contains(where: { aaguid.elementsEqual($0.utf8) }) {
            self = .development
        } else {
            return nil
        }
    }
}
