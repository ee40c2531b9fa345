// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime

/// Why a secret cannot be where the configuration says.
package enum SecretLocationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `credential:` was used, but no service manager passed credentials.
    case noCredentialsDirectory
    /// A credential's name has a character that could leave the directory.
    case badCredentialName
    /// Keys in hardware are not read by this version.
    case hardwareNotSupported

    /// What is wrong, as the end of a sentence that begins with the member.
    package var description: String {
        switch self {
        case .noCredentialsDirectory:
            "names a credential, but CREDENTIALS_DIRECTORY is not set; systemd sets it for LoadCredential="
        case .badCredentialName: "expected credential: and a name of letters, digits, “.”, “_” and “-”"
        case .hardwareNotSupported: "names a key by pkcs11:, which this version does not read; give a file"
        }
    }
}

/// Where a secret lies: a path beside the configuration file, or a credential that systemd passed.
package struct SecretLocation: Hashable, Sendable {
    /// The path of the file; a credential's is in `CREDENTIALS_DIRECTORY`.
    package let path: String

    /// Reads a path or `credential:NAME`; a relative path starts beside the configuration file that names it.
    package init(_ text: String, beside configuration: String) throws(SecretLocationError) {
        if text.hasPrefix("pkcs11:") { throw .hardwareNotSupported }
        guard text.hasPrefix("credential:") else {
            path = resolve(text, beside: configuration)
            return
        }
        let name = text.dropFirst("credential:".count)
        guard !name.isEmpty, !name.hasPrefix("."), name.utf8.allSatisfy(isNameByte) else { throw .badCredentialName }
        guard let directory = unsafe getenv("CREDENTIALS_DIRECTORY") else { throw .noCredentialsDirectory }
        path = unsafe String(cString: directory) + "/" + name
    }
}

private func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
    default: false
    }
}
