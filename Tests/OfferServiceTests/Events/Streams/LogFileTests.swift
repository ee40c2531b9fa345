// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import TestSupport
import Testing

@testable import Configuration
@testable import OfferService

/// A file with a line for each entry, as other programs leave it.
struct LogFileTests {
    private static func line(_ index: Int) -> [UInt8] { Array(#"{"index":\#(index)}"#.utf8) + [0x0A] }

    private static func write(_ index: Int, to file: LogFile) throws { try file.write(line(index)) { false } }

    private func text(_ path: String) throws -> String {
        String(decoding: try TemporaryDirectory.read(path), as: UTF8.self)
    }

    @Test func `is made for its owner alone, and appended to`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path(of: "log")
        for index in 0..<2 { try Self.write(index, to: LogFile(path: path)) }
        #expect(try text(path) == "{\"index\":0}\n{\"index\":1}\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a test writes to an existing file and does not create one, which its user would own`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path(of: "log")
        let stream = LogStream(id: "own", target: .file(path), categories: [])
        let missing = stream.test(at: Timestamp(milliseconds: 0))
        #expect(!missing.isTaken && missing.text.contains("does not exist yet"), "\(missing)")
        #expect(!FileManager.default.fileExists(atPath: path))
        try Self.write(0, to: LogFile(path: path))
        let found = stream.test(at: Timestamp(milliseconds: 0))
        #expect(found.isTaken, "\(found)")
        #expect(try text(path).hasPrefix("{\"index\":0}\n{\"test\":"))
    }

    @Test func `a file that was renamed or removed is created again`() throws {
        let folder = try TemporaryDirectory()
        let (path, old) = (folder.path(of: "log"), folder.path(of: "log.1"))
        let file = LogFile(path: path)
        try Self.write(0, to: file)
        try FileManager.default.moveItem(atPath: path, toPath: old)
        try Self.write(1, to: file)
        #expect(try text(old) == "{\"index\":0}\n" && text(path) == "{\"index\":1}\n")
        try FileManager.default.removeItem(atPath: path)
        try Self.write(2, to: file)
        #expect(try text(path) == "{\"index\":2}\n")
    }

    @Test func `a file that was emptied goes on from its start`() throws {
        let folder = try TemporaryDirectory()
        let file = LogFile(path: folder.path(of: "log"))
        try Self.write(0, to: file)
        _ = unsafe truncate(folder.path(of: "log"), 0)
        try Self.write(1, to: file)
        #expect(try text(folder.path(of: "log")) == "{\"index\":1}\n")
    }

    @Test(arguments: ["{\"index\":4,\"ha", "{\"in", "{", "{\"test\":\"offer"])
    func `a torn last line is removed`(torn: String) throws {
        for before in ["", "{\"index\":3}\n"] {
            let folder = try TemporaryDirectory()
            let path = try folder.write(Array((before + torn).utf8), to: "log")
            try Self.write(4, to: LogFile(path: path))
            #expect(try text(path) == before + "{\"index\":4}\n")
        }
    }

    @Test(arguments: [
        "root:x:0:0", "root:x:0:0\n", "{\"index\":3}\nabc\n", "{\"index\":3}\nabc",
        String(repeating: "{\"index\":", count: 9000),
    ])
    func `another program's file is left as it is`(content: String) throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(Array(content.utf8), to: "log")
        #expect(throws: LogSinkError.self) { try Self.write(4, to: LogFile(path: path)) }
        #expect(try text(path) == content)
    }

    @Test func `a file that another process is writing is left as it is, and tried again`() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(Array("{\"index\":3}\n{\"ind".utf8), to: "log")
        let other = unsafe open(path, O_RDWR)
        defer { close(other) }
        try #require(flock(other, LOCK_EX) == 0)
        let file = LogFile(path: path)
        #expect(throws: LogSinkError.self) { try Self.write(4, to: file) }
        #expect(try text(path) == "{\"index\":3}\n{\"ind")
        try #require(flock(other, LOCK_UN) == 0)
        try Self.write(4, to: file)
        #expect(try text(path) == "{\"index\":3}\n{\"index\":4}\n")
    }

    @Test func `links and folders are not written to`() throws {
        let folder = try TemporaryDirectory()
        let (target, link) = (try folder.write([], to: "target"), folder.path(of: "link"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        for path in [link, folder.path(of: "."), "/dev/null", folder.path(of: "none/log")] {
            let error = #expect(throws: LogSinkError.self) { try Self.write(4, to: LogFile(path: path)) }
            #expect(error?.description.hasPrefix(path) == true, "\(String(describing: error))")
        }
        #expect(try text(target).isEmpty)
    }
}
