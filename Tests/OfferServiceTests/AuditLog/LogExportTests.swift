// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import OfferDomain
import Storage
import TestSupport
import Testing
import TransparencyLog

@testable import OfferService

/// The log as a folder.
@Suite(.overBothEngines) struct LogExportTests {
    private static func place(_ count: Int) throws -> (LogPlace, folder: String) {
        let place = try LogPlace.filled(entries: count)
        return (place, place.directory.path(of: "exported/log"))
    }

    private static func files(_ folder: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
        for name in names {
            let type = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.type]
            if type as? FileAttributeType == .typeRegular {
                files[name] = try TemporaryDirectory.read("\(folder)/\(name)")
            }
        }
        return files
    }

    private static func checkpoint(_ place: LogPlace, _ size: Int64) throws -> PublishedCheckpoint {
        let head = TreeHead(size: size, rootHash: try place.reader().rootHash(ofSize: size))
        let root = String(decoding: Base64.encode(head.rootHash.bytes), as: UTF8.self)
        return PublishedCheckpoint(head: head, note: Array("example.com/log\n\(size)\n\(root)\n\n— x y\n".utf8))
    }

    @Test func `writes the files that a log of 66,000 has`() throws {
        let (place, folder) = try Self.place(66_000)
        let checkpoint = try Self.checkpoint(place, 66_000)
        let export = LogExport(reader: try place.reader(), folder: folder)
        let report = try export.write(checkpoint)
        let files = try Self.files(folder)
        let tiles = 257 + 1 + 1 + 1 + 1
        #expect(report.written == files.count && report.compared == 0 && report.size == 66_000)
        #expect(files.count == tiles + 258 + 1)
        #expect(files["checkpoint"] == checkpoint.note)
        let reader = try place.reader()
        for (name, bytes) in files where name != "checkpoint" {
            switch TilePath(ArraySlice(name.utf8.dropFirst("tile/".utf8.count))) {
            case .tile(let tile): #expect(bytes == (try reader.tile(tile)))
            case .entries(let index, let width): #expect(bytes == (try reader.entryBundle(index, width: width)))
            case nil: Issue.record("\(name) is no path of a log")
            }
        }
        #expect(files.keys.contains("tile/0/257.p/208") && files.keys.contains("tile/2/000.p/1"))
        #expect(files.keys.contains("tile/entries/256") && files.keys.contains("tile/1/001.p/1"))
    }

    @Test func `goes on where it was, compares what is there, and puts the checkpoint last`() throws {
        let (place, folder) = try Self.place(600)
        let first = try LogExport(reader: try place.reader(), folder: folder).write(nil)
        #expect(first.size == 600 && first.written == 7)
        try FileManager.default.removeItem(atPath: "\(folder)/tile/entries/001")
        let writer = try place.writer()
        try writer.add(200)
        let checkpoint = try Self.checkpoint(place, 700)
        let second = try LogExport(reader: try place.reader(), folder: folder).write(checkpoint)
        // Of 700: 2 full tiles and bundles are there but for one bundle; the partial ones and the checkpoint are new.
        #expect(second.size == 700 && second.written == 1 + 2 + 1)
        // The parts that the log of 600 had are there still.
        #expect(second.compared == 3 + 1 + 2)
        #expect(try LogExport(reader: try place.reader(), folder: folder).write(checkpoint).written == 0)
        let grown = try LogExport(reader: try place.reader(), folder: folder).write(try Self.checkpoint(place, 800))
        #expect(grown.written == 6)
        #expect(try Self.files(folder)["checkpoint"] == (try Self.checkpoint(place, 800)).note)
    }

    @Test(arguments: ["tile/0/000", "tile/1/000.p/2", "tile/entries/000", "tile/entries/002.p/88"])
    func `overwrites no file that differs, and writes no checkpoint then`(name: String) throws {
        let (place, folder) = try Self.place(600)
        _ = try LogExport(reader: try place.reader(), folder: folder).write(nil)
        for change in [{ $0[0] ^= 1 }, { $0.removeLast() }, { $0.append(0) }] as [(inout [UInt8]) -> Void] {
            let right = try TemporaryDirectory.read("\(folder)/\(name)")
            var wrong = right
            change(&wrong)
            try Data(wrong).write(to: URL(filePath: "\(folder)/\(name)"))
            #expect(throws: LogExportError.differs(path: "\(folder)/\(name)")) {
                try LogExport(reader: try place.reader(), folder: folder).write(try Self.checkpoint(place, 600))
            }
            #expect(try TemporaryDirectory.read("\(folder)/\(name)") == wrong)
            #expect(try Self.files(folder)["checkpoint"] == nil)
            try Data(right).write(to: URL(filePath: "\(folder)/\(name)"))
        }
    }

    @Test(arguments: ["tile/0/002.p/88", "tile/entries/002.p/88", "tile/1/000.p/2", "tile/0/001.p/7"])
    func `compares what earlier exports have of tiles that have grown`(name: String) throws {
        let (place, folder) = try Self.place(600)
        _ = try LogExport(reader: try place.reader(), folder: folder).write(try Self.checkpoint(place, 600))
        let part = "\(folder)/\(name)"
        try FileManager.default.createDirectory(
            atPath: String(part[..<(part.lastIndex(of: "/") ?? part.endIndex)]),
            withIntermediateDirectories: true
        )
        try Data([1, 2, 3]).write(to: URL(filePath: part))
        try place.writer().add(300)
        let before = try Self.files(folder)["checkpoint"]
        #expect(throws: LogExportError.differs(path: part)) {
            try LogExport(reader: try place.reader(), folder: folder).write(try Self.checkpoint(place, 900))
        }
        #expect(try Self.files(folder)["checkpoint"] == before)
    }

    @Test func `does not take a folder of another history for its own, and leaves all of it`() throws {
        let (place, folder) = try Self.place(600)
        _ = try LogExport(reader: try place.reader(), folder: folder).write(try Self.checkpoint(place, 600))
        let before = try Self.files(folder)
        let (other, _) = try Self.place(599)
        try other.writer().add(200)
        for checkpoint in [try Self.checkpoint(other, 799), try Self.checkpoint(other, 600), nil] {
            #expect(throws: LogExportError.otherHistory(size: 600)) {
                try LogExport(reader: try other.reader(), folder: folder).write(checkpoint)
            }
        }
        #expect(try Self.files(folder) == before)
        for note in ["", "example.com/log\n600\n", "example.com/log\n600\n!\n\n"] {
            try Data(note.utf8).write(to: URL(filePath: "\(folder)/checkpoint"))
            #expect(throws: LogExportError.differs(path: "\(folder)/checkpoint")) {
                try LogExport(reader: try place.reader(), folder: folder).write(try Self.checkpoint(place, 600))
            }
        }
    }

    @Test func `exports no log that its checkpoint is not of, nor one that is behind the folder`() throws {
        let (place, folder) = try Self.place(600)
        let right = try Self.checkpoint(place, 600)
        let wrong = PublishedCheckpoint(head: TreeHead(size: 599, rootHash: right.head.rootHash), note: right.note)
        #expect(throws: LogExportError.log(.log(.rootDiffers(size: 599)))) {
            try LogExport(reader: try place.reader(), folder: folder).write(wrong)
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
        _ = try LogExport(reader: try place.reader(), folder: folder).write(right)
        for checkpoint in [try Self.checkpoint(place, 599), nil] {
            let (other, _) = try Self.place(599)
            #expect(throws: LogExportError.newerCheckpoint(size: 600)) {
                try LogExport(reader: try other.reader(), folder: folder).write(checkpoint)
            }
        }
        #expect(try Self.files(folder)["checkpoint"] == right.note)
    }
}
