// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The `openssl` command, which makes keys and checks signatures without our code.
package enum KeyTool {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs `openssl` with the arguments and returns what it writes to standard output.
    @discardableResult
    package static func openssl(_ arguments: String..., input: [UInt8] = []) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        // All our inputs fit in a pipe's buffer, so writing before reading can't block.
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input))
        try standardInput.fileHandleForWriting.close()
        let result = try output.fileHandleForReading.readToEnd() ?? Data()
        let complaint = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "openssl \(arguments): \(String(decoding: complaint, as: UTF8.self))")
        }
        return Array(result)
    }

    /// A new P-256 key as PKCS #8 in PEM.
    package static func makeKey(curve: String = "P-256") throws -> [UInt8] {
        try openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)")
    }

    /// The same key encrypted, with more options as `openssl pkcs8` takes them.
    package static func encrypt(_ pem: [UInt8], passphrase: String, _ option: String, _ value: String) throws -> [UInt8]
    {
        try openssl("pkcs8", "-topk8", "-passout", "pass:\(passphrase)", option, value, input: pem)
    }
}
