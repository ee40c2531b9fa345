// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// A chain that the `openssl` command made, valid from now on: root and intermediate on P-384, the leaf on P-256.
///
/// An independent witness for the reader, where ``TestAuthority`` shares its idea of a certificate with the tests.
struct OpenSSLChain {
    /// Leaf, intermediate and root.
    let certificates: [[UInt8]]
    /// In PEM.
    let leafKey: [UInt8]
    let directory: TemporaryDirectory

    init(in directory: TemporaryDirectory) throws {
        self.directory = directory
        let root = try Self.key("root", curve: "P-384", in: directory)
        let intermediate = try Self.key("intermediate", curve: "P-384", in: directory)
        let leaf = try Self.key("leaf", curve: "P-256", in: directory)
        leafKey = try TemporaryDirectory.read(leaf)
        _ = try directory.write(Array(Self.extensions.utf8), to: "extensions")
        let rootPEM = try KeyTool.openssl(
            "req",
            "-x509",
            "-sha384",
            "-days",
            "30",
            "-subj",
            "/CN=Made By OpenSSL",
            "-key",
            root
        )
        let rootFile = try directory.write(rootPEM, to: "root.pem")
        let intermediatePEM = try Self.certificate("intermediate", intermediate, rootFile, root, in: directory)
        let intermediateFile = try directory.write(intermediatePEM, to: "intermediate.pem")
        let leafPEM = try Self.certificate("leaf", leaf, intermediateFile, intermediate, in: directory)
        _ = try directory.write(leafPEM, to: "leaf.pem")
        certificates = try [leafPEM, intermediatePEM, rootPEM].map(KeyDER.contents)
    }

    private static func key(_ name: String, curve: String, in directory: TemporaryDirectory) throws -> String {
        try directory.write(KeyTool.makeKey(curve: curve), to: "\(name).key")
    }

    private static func certificate(
        _ name: String,
        _ key: String,
        _ issuer: String,
        _ issuerKey: String,
        in directory: TemporaryDirectory
    ) throws -> [UInt8] {
        let request = try KeyTool.openssl("req", "-new", "-subj", "/CN=\(name)", "-key", key)
        return try KeyTool.openssl(
            "x509",
            "-req",
            "-sha384",
            "-days",
            "20",
            "-CA",
            issuer,
            "-CAkey",
            issuerKey,
            "-extfile",
            directory.path(of: "extensions"),
            "-extensions",
            name,
            input: request
        )
    }

    private static let extensions = """
        [intermediate]
        basicConstraints = critical, CA:TRUE, pathlen:0
        keyUsage = critical, keyCertSign, cRLSign
        subjectKeyIdentifier = hash
        authorityKeyIdentifier = keyid
        authorityInfoAccess = OCSP;URI:http://ocsp.example/root
        1.2.840.113635.100.6.2.1 = ASN1:NULL
        [leaf]
        basicConstraints = critical, CA:FALSE
        keyUsage = critical, digitalSignature
        subjectKeyIdentifier = hash
        authorityKeyIdentifier = keyid
        authorityInfoAccess = OCSP;URI:http://ocsp.example/intermediate
        1.2.840.113635.100.6.11.1 = ASN1:NULL
        """
}
