// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON

/// What a service account's key file holds: the file that Google lets one download once, in JSON.
///
/// The private key goes from the file's secure memory to OpenSSL's without being anywhere else. `token_uri` is not used,
/// so that a changed file can't lead assertions elsewhere; where tokens are asked for is a setting.
///
/// Source: Google, [Create and delete service account keys](https://cloud.google.com/iam/docs/keys-create-delete).
struct ServiceAccountFile {
    let name: GoogleAccountName
    let privateKey: RSAPrivateKey

    /// Reads the file's contents; `nil` if anything is wrong, and then `note` was called with every fault.
    init?(_ contents: SecureBytes, note: (String) -> Void) {
        let object: SecretObject
        do throws(SecretObjectError) {
            object = try SecretObject(contents)
        } catch {
            note("\(error) \(Self.expected)")
            return nil
        }
        let type = Self.text("type", in: object, expected: "“service_account”", note: note) { text in
            text == "service_account" ? text : nil
        }
        let address = "a service account's e-mail address"
        let email = Self.text("client_email", in: object, expected: address, note: note, GoogleEmail.init)
        let keyID = Self.text("private_key_id", in: object, expected: "the id of the key", note: note, GoogleKeyID.init)
        let privateKey = Self.privateKey(in: object, note)
        guard type != nil, let email, let keyID, let privateKey else { return nil }
        name = GoogleAccountName(email: email, keyID: keyID)
        self.privateKey = privateKey
    }

    private static let expected =
        "The key file of a service account was expected, as the Google Cloud console hands it out in JSON."

    private static func text<Value>(
        _ name: StaticString,
        in object: SecretObject,
        expected: String,
        note: (String) -> Void,
        _ parse: (String) -> Value?
    ) -> Value? {
        do throws(SecretObjectError) {
            guard let text = try object.text(name) else {
                note("The file has no member \(name). \(Self.expected)")
                return nil
            }
            if let value = parse(text) { return value }
            note("The file's member \(name) is \(printable(text)); \(expected) was expected.")
        } catch {
            note("\(name): \(error)")
        }
        return nil
    }

    private static func privateKey(in object: SecretObject, _ note: (String) -> Void) -> RSAPrivateKey? {
        do {
            guard let pem = try object.secret("private_key") else {
                note("The file has no member private_key. \(expected)")
                return nil
            }
            return try RSAPrivateKey(pem: pem)
        } catch let error as RSAPrivateKeyError {
            note("private_key: \(error)")
        } catch {
            note("private_key: \(error)")
        }
        return nil
    }
}
