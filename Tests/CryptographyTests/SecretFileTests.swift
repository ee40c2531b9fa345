// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import TestSupport
import Testing

struct SecretFileTests {
    /// A file made under a directory, and what is said of it; nil if it may be read.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var sentence: String?
        var policy = SecretFilePolicy()
        /// Makes the file and returns its path.
        let make: @Sendable (TemporaryDirectory) throws -> String

        static func mode(_ mode: Int, groupMayRead: Bool = false, _ sentence: String? = nil) -> Row {
            Row(
                testDescription: "mode \(String(mode, radix: 8))" + (groupMayRead ? ", group may read" : ""),
                sentence: sentence,
                policy: SecretFilePolicy(allowsGroupRead: groupMayRead)
            ) { try $0.write([1, 2, 3], to: "secret", mode: mode) }
        }
    }

    static let modes = [
        Row.mode(0o600), .mode(0o400), .mode(0o700),
        .mode(0o644, "The file's mode is 0644, which opens it to others; 0400 or 0600 was expected."),
        .mode(0o640, "The file's mode is 0640,"), .mode(0o620, "The file's mode is 0620,"),
        .mode(0o604, "The file's mode is 0604,"), .mode(0o602, "The file's mode is 0602,"),
        .mode(0o601, "The file's mode is 0601,"), .mode(0o610, "The file's mode is 0610,"),
        .mode(0o440, "The file's mode is 0440,"),
        .mode(0o440, groupMayRead: true), .mode(0o640, groupMayRead: true),
        .mode(0o620, groupMayRead: true, "The file's mode is 0620, which opens it to others; 0440, 0400 or 0600"),
        .mode(0o660, groupMayRead: true, "The file's mode is 0660,"),
        .mode(0o444, groupMayRead: true, "The file's mode is 0444,"),
    ]

    static let kinds = [
        Row(testDescription: "not there", sentence: "The file cannot be opened: No such file or directory") {
            $0.path(of: "missing")
        },
        Row(testDescription: "a directory", sentence: "This is a directory; a regular file was expected.") { $0.path },
        Row(testDescription: "a named pipe", sentence: "This is a named pipe; a regular file was expected.") {
            let path = $0.path(of: "pipe")
            try #require(unsafe mkfifo(path, 0o600) == 0)
            return path
        },
        Row(testDescription: "a device", sentence: "This is a device; a regular file was expected.") { _ in "/dev/null"
        },
        Row(testDescription: "empty", sentence: "The file is empty") { try $0.write([], to: "secret") },
        Row(testDescription: "1 byte") { try $0.write([1], to: "secret") },
        Row(testDescription: "16 KiB") { try $0.write([UInt8](repeating: 1, count: 16_384), to: "secret") },
        Row(testDescription: "16 KiB and 1 byte", sentence: "The file has 16385 bytes; at most 16384") {
            try $0.write([UInt8](repeating: 1, count: 16_385), to: "secret")
        },
        Row(testDescription: "a symbolic link") {
            let path = $0.path(of: "link")
            try FileManager.default.createSymbolicLink(
                atPath: path,
                withDestinationPath: $0.write([1, 2, 3], to: "secret")
            )
            return path
        },
    ]

    static let directories = [
        Row(testDescription: "in a directory of mode 0777", sentence: "Anyone may put another file in its place") {
            try under($0, mode: 0o777)
        },
        Row(testDescription: "below a directory of mode 0757", sentence: "Anyone may put another file in its place") {
            try under($0, mode: 0o757, below: "/below")
        },
        Row(testDescription: "linked to from a directory of mode 0777", sentence: "Anyone may put another file") {
            let link = try under($0, mode: 0o777) + ".link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: $0.write([1], to: "secret"))
            return link
        },
        Row(testDescription: "a link into a directory of mode 0777", sentence: "Anyone may put another file") {
            let link = $0.path(of: "link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: under($0, mode: 0o777))
            return link
        },
        Row(testDescription: "in a sticky directory of ours") { try under($0, mode: 0o1777) },
        Row(testDescription: "in a directory that the group may write") { try under($0, mode: 0o770) },
    ]

    @Test(arguments: modes + kinds + directories)
    func `reads what is well kept, and says what is wrong with the rest`(row: Row) throws {
        try startSecureMemory()
        let directory = try TemporaryDirectory()
        let path = try row.make(directory)
        guard let sentence = row.sentence else {
            _ = try SecretFile.read(path: path, policy: row.policy)
            return
        }
        let error = try #require(throws: SecretFileError.self) {
            _ = try SecretFile.read(path: path, policy: row.policy)
        }
        #expect(error.description.hasPrefix(sentence), "\(error.description)")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func `refuses a file that another user owns`() throws {
        try startSecureMemory()
        let directory = try TemporaryDirectory()
        let path = try directory.write([1], to: "secret")
        try #require(unsafe chown(path, 65_534, 0) == 0)
        #expect(throws: SecretFileError.foreignOwner(userID: 65_534, expected: 0)) {
            _ = try SecretFile.read(path: path)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"))
    func `refuses a sticky directory that another user owns`() throws {
        try startSecureMemory()
        let directory = try TemporaryDirectory()
        let path = try Self.under(directory, mode: 0o1777)
        try #require(unsafe chown(directory.path(of: "inner"), 65_534, 0) == 0)
        #expect(throws: SecretFileError.directoryWritableByAll(path: directory.path(of: "inner"), mode: 0o1777)) {
            _ = try SecretFile.read(path: path)
        }
    }

    @Test
    func `overwrites a file before removing it`() throws {
        try startSecureMemory()
        let directory = try TemporaryDirectory()
        let bytes = [UInt8](repeating: 7, count: 64)
        let path = try directory.write(bytes, to: "secret")
        let link = directory.path(of: "another name of the same file")
        try FileManager.default.linkItem(atPath: path, toPath: link)
        try SecretFile.destroy(path: path)
        #expect(SecretFile.isAbsent(path: path))
        let left = try TemporaryDirectory.read(link)
        #expect(left.count == bytes.count && left.count { $0 == 7 } < 8)
    }

    @Test
    func `reads a relative path`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write([1], to: "secret")
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            try SecureMemory.start()
            try #require(unsafe chdir(path) == 0)
            #expect(try SecretFile.read(path: "secret").count == 1)
            #expect(try SecretFile.read(path: "./secret").count == 1)
            try #require(unsafe chmod(path, 0o777) == 0)
            #expect(throws: SecretFileError.self) { _ = try SecretFile.read(path: "secret") }
        }
    }

    @Test
    func `makes random secrets that it reads again`() throws {
        try startSecureMemory()
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "secret")
        try SecretFile.createRandom(path: path, byteCount: 48)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.wholeMatch(of: /[0-9a-f]{96}\n/) != nil)
        let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(permissions as? Int == 0o600)
        #expect(throws: SecretFileError.exists) { try SecretFile.createRandom(path: path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        // Both are the key of the same HMAC, so both are the same bytes.
        let bytes = stride(from: 0, to: 96, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
        let read = try HMACKey(SecretFile.readHexadecimal(path: path))
        #expect(try read.authenticationCode(for: [1]) == HMACKey(secret(bytes)).authenticationCode(for: [1]))
    }

    @Test(arguments: ["", "\n", "0", "0g", "AB", "ab\n\n", "ab\r\n", " ab", "ab cd", "abc\n"])
    func `refuses other texts than lowercase hexadecimal`(text: String) throws {
        try startSecureMemory()
        let directory = try TemporaryDirectory()
        let path = try directory.write(Array(text.utf8), to: "secret")
        #expect(throws: text.isEmpty ? SecretFileError.empty : .notHexadecimal) {
            _ = try SecretFile.readHexadecimal(path: path)
        }
    }

    @Test
    func `creates nothing where it can't`() throws {
        try startSecureMemory()
        let directory = try TemporaryDirectory()
        #expect(throws: SecretFileError.cannotCreate(code: ENOENT)) {
            try SecretFile.createRandom(path: directory.path(of: "missing/secret"))
        }
        let link = directory.path(of: "link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.path(of: "target"))
        #expect(throws: SecretFileError.exists) { try SecretFile.createRandom(path: link) }
        #expect(!FileManager.default.fileExists(atPath: directory.path(of: "target")))
    }

    /// A file in a directory of the mode, or in one more below it.
    private static func under(_ directory: TemporaryDirectory, mode: Int, below: String = "") throws -> String {
        let inner = directory.path(of: "inner")
        try FileManager.default.createDirectory(atPath: inner + below, withIntermediateDirectories: true)
        let path = try directory.write([1, 2, 3], to: "inner\(below)/secret")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: inner)
        return path
    }
}
