// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The `openssl` command, which makes keys and checks signatures without our code.
package enum KeyTool {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs `openssl` with the arguments and returns what it writes to standard output.
    @discardableResult
    package static func openssl(_ arguments: String..., input: [UInt8] = []) throws -> [UInt8] {
        try run(arguments, input: input)
    }

    /// Runs `openssl` with the arguments and returns what it writes to standard output.
    package static func run(_ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
        // Files instead of pipes: neither side can block. Foundation's Process leaks, which hides leaks of ours.
        let directory = try TemporaryDirectory()
        let names = [
            try directory.write(input, to: "input"), directory.path(of: "output"), directory.path(of: "errors"),
        ]
        let status = try spawn(["openssl"] + arguments, standardFiles: names)
        guard status == 0 else {
            let complaint = String(decoding: try TemporaryDirectory.read(names[2]), as: UTF8.self)
            throw Failure(description: "openssl \(arguments) ended with status \(status): \(complaint)")
        }
        return try TemporaryDirectory.read(names[1])
    }

    /// A new P-256 key as PKCS #8 in PEM.
    package static func makeKey(curve: String = "P-256") throws -> [UInt8] {
        try openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)")
    }

    /// The same key encrypted, with more options as `openssl pkcs8` takes them.
    package static func encrypt(
        _ pem: [UInt8],
        passphrase: String,
        _ option: String,
        _ value: String
    ) throws -> [UInt8] {
        try openssl("pkcs8", "-topk8", "-passout", "pass:\(passphrase)", option, value, input: pem)
    }

    /// Runs a program with files for standard input, output and error, and returns its wait status.
    private static func spawn(_ arguments: [String], standardFiles names: [String]) throws -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, name) in names.enumerated() {
            let flags = descriptor == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC
            unsafe posix_spawn_file_actions_addopen(&actions, Int32(descriptor), name, flags, 0o600)
        }
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var child: pid_t = 0
        let code = unsafe posix_spawnp(&child, arguments[0], &actions, nil, &words, environ)
        guard code == 0 else { throw Failure(description: "\(arguments[0]) cannot be run: errno \(code)") }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure(description: "waitpid: errno \(errno)") }
        }
        return status
    }
}
