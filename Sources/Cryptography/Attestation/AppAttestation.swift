// SPDX-License-Identifier: Apache-2.0

/// A key of an app's Secure Enclave that Apple vouches for: the app is one of the team's, on a device of Apple's.
///
/// Source: Apple, [Validating apps that connect to your server](https://developer.apple.com/documentation/devicecheck/validating-apps-that-connect-to-your-server)
/// and the guide named at ``AppExtensions``; comments below count its steps.
package struct AppAttestation: Hashable, Sendable {
    /// What signs the app's assertions.
    package let key: PublicKey
    /// The SHA-256 of the key's point, by which the app knows the key.
    package let keyID: SHA256Digest
    /// Which of Apple's services attested it.
    package let environment: AppAttestEnvironment
    /// What the system says of the app.
    package let extensions: AppExtensions

    /// What an attestation has to prove.
    package struct Expectation: Sendable {
        /// `TEAMID.bundle.id`.
        package let appID: String
        package let environments: Set<AppAttestEnvironment>
        /// As the app gave it; believed only once the certificate says the same.
        package let keyID: SHA256Digest
        /// What the app has had attested, which must have been made of a challenge of ours.
        package let clientDataHash: [UInt8]

        package init(
            appID: String,
            environments: Set<AppAttestEnvironment>,
            keyID: SHA256Digest,
            clientDataHash: [UInt8]
        ) {
            self.appID = appID
            self.environments = environments
            self.keyID = keyID
            self.clientDataHash = clientDataHash
        }
    }

    /// Verifies an attestation object of at most 16 KiB at an instant, in seconds since 1970 UTC.
    ///
    /// Costs two verifications with keys on P-384, a millisecond or more.
    package init(
        _ object: [UInt8],
        expecting expected: Expectation,
        anchors: TrustAnchors,
        at unixSeconds: Int64
    ) throws(AppAttestFault) {
        let statement = try AttestationStatement(object)
        let chain = CertificateChain(leaf: statement.leaf, intermediate: statement.intermediate)
        // Step 1, first what takes no cryptography.
        do throws(ChainError) {
            key = try chain.checkConstraints(at: unixSeconds)
            _ = try chain.verified(against: anchors, at: unixSeconds)
        } catch {
            throw .chain(error)
        }
        // Steps 2 to 4.
        let nonce = SHA256.digest(of: statement.authenticatorData + expected.clientDataHash)
        guard try statement.nonce() == nonce.bytes else { throw .otherNonce }
        // Step 5.
        keyID = SHA256.digest(of: key.point)
        guard keyID == expected.keyID else { throw .otherKeyID }
        let data = try AuthenticatorData(statement.authenticatorData)
        // Step 6.
        guard data.appIDHash == SHA256.digest(of: Array(expected.appID.utf8)) else { throw .otherApp }
        // Step 7.
        guard data.counter == 0 else { throw .counterNotZero }
        let (credential, extensions) = try data.credential()
        // Step 8.
        guard let environment = credential.environment else { throw .environmentUnknown }
        guard expected.environments.contains(environment) else { throw .otherEnvironment(environment) }
        // Step 9.
        guard credential.id == keyID.bytes else { throw .credentialID }
        guard credential.point == key.point else { throw .credentialKey }
        (self.environment, self.extensions) = (environment, extensions)
    }
}

/// An attestation object; only its form is checked.
private struct AttestationStatement {
    let leaf: Certificate
    let intermediate: Certificate
    let authenticatorData: [UInt8]

    private static let nonceIdentifier = ObjectIdentifierText("1.2.840.113635.100.8.2")
    /// `SEQUENCE { [1] EXPLICIT OCTET STRING (SIZE (32)) }`, up to the bytes themselves.
    private static let noncePrefix: [UInt8] = [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20]

    init(_ object: [UInt8]) throws(AppAttestFault) {
        let value: CBORValue
        do { value = try CBORValue(object) } catch { throw .cbor(error) }
        guard case .map(let members) = value, members.count == 3, case .text(let format)? = members[.text("fmt")],
            case .map(let statement)? = members[.text("attStmt")], case .bytes(let data)? = members[.text("authData")]
        else { throw .form }
        guard format == "apple-appattest" else { throw .otherFormat }
        guard statement.count == 2, case .array(let certificates)? = statement[.text("x5c")],
            case .bytes? = statement[.text("receipt")]
        else { throw .form }
        guard certificates.count == 2, case .bytes(let leaf) = certificates[0],
            case .bytes(let intermediate) = certificates[1]
        else { throw .notTwoCertificates }
        do throws(CertificateError) {
            (self.leaf, self.intermediate) = (try Certificate(der: leaf), try Certificate(der: intermediate))
        } catch {
            throw .certificate(error)
        }
        authenticatorData = data
    }

    /// What Apple has put into the leaf.
    func nonce() throws(AppAttestFault) -> [UInt8] {
        let values = leaf.extensionValues(Self.nonceIdentifier)
        guard values.count == 1, let value = values.first, value.count == 38, value.starts(with: Self.noncePrefix)
        else { throw .nonceMissing }
        return Array(value.dropFirst(Self.noncePrefix.count))
    }
}
