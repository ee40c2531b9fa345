// SPDX-License-Identifier: Apache-2.0

/// What an app's attested key says of one request.
///
/// Holding one says that its form is right; ``verify(by:clientDataHash:appID:)`` says whether it is believed. Whether its
/// counter is a new one, the caller decides, which keeps the last one.
///
/// Source: Apple, [Validating apps that connect to your server](https://developer.apple.com/documentation/devicecheck/validating-apps-that-connect-to-your-server).
package struct AppAssertion: Sendable {
    /// The most bytes that an assertion may have.
    package static let mostBytes = 4096

    /// How many assertions the key has signed, this one among them.
    package let counter: UInt32
    /// What the system says of the app as it is now.
    package let extensions: AppExtensions
    private let appIDHash: SHA256Digest
    private let authenticatorData: [UInt8]
    private let signature: ECDSASignature

    /// Reads an assertion.
    package init(_ object: [UInt8]) throws(AppAttestFault) {
        guard object.count <= Self.mostBytes else { throw .cbor(.tooLarge) }
        let value: CBORValue
        do { value = try CBORValue(object) } catch { throw .cbor(error) }
        guard case .map(let members) = value, members.count == 2, case .bytes(let der)? = members[.text("signature")],
            case .bytes(let bytes)? = members[.text("authenticatorData")]
        else { throw .form }
        guard let signature = ECDSASignature(der: der) else { throw .signatureForm }
        let data = try AuthenticatorData(bytes)
        (counter, appIDHash, extensions) = (data.counter, data.appIDHash, try data.assertedExtensions())
        (authenticatorData, self.signature) = (bytes, signature)
    }

    /// Checks that the key has signed this for the app and the request.
    package func verify(
        by key: PublicKey,
        clientDataHash: SHA256Digest,
        appID: String
    ) throws(AppAttestFault) {
        // The signature is over the nonce as a message, so of its digest.
        let nonce = SHA256.digest(of: authenticatorData + clientDataHash.bytes)
        guard key.verifies(signature, of: SHA256.digest(of: nonce.bytes)) else { throw .signatureWrong }
        guard appIDHash == SHA256.digest(of: Array(appID.utf8)) else { throw .otherApp }
    }
}
