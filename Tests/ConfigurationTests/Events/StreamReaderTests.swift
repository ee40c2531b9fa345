// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import TestSupport
import Testing

/// What the events file may say of streams.
struct StreamReaderTests {
    private static func read(_ streams: String, rest: String = "") throws -> EventSettings {
        try startSecureMemory()
        let folder = try TemporaryDirectory()
        _ = try folder.write(try KeyTool.makeKey(), to: "client.key")
        _ = try folder.write(Array("nothing".utf8), to: "empty.pem")
        let path = try folder.write(Array("{streams: [\(streams)]\(rest)}".utf8), to: "events")
        return try EventsFile(path: path, policy: SecretFilePolicy()).load()
    }

    @Test func `has one member for each choice, and sensible ones without it`() throws {
        let settings = try Self.read(
            #"{id: "siem", syslog: "siem.example.com"}, {id: "own", file: "own.ndjson", categories: ["seals", "alarms"]},"#
                + #"{id: "near", syslog: "[::1]:601", tls: false, facility: 16, enterpriseNumber: 99, maximumBytes: 2048,"#
                + #" byteOrderMark: false}"#
        )
        #expect(settings.receiverIDs == ["siem", "own", "near"])
        guard case .syslog(let siem) = settings.streams[0].target, case .syslog(let near) = settings.streams[2].target,
            case .file(let path) = settings.streams[1].target
        else {
            Issue.record("\(settings.streams)")
            return
        }
        #expect(siem.connection.origin.description == "https://siem.example.com:6514" && siem.facility == 13)
        #expect(settings.streams[0].categories == Set(AuditCategory.allCases))
        #expect(path.hasSuffix("/own.ndjson") && settings.streams[1].categories == [.seals, .alarms])
        #expect(near.connection.origin.description == "http://[::1]:601")
        #expect((near.facility, near.enterpriseNumber, near.maximumBytes) == (16, 99, 2048) && !near.hasByteOrderMark)
    }

    @Test(
        arguments: [
            (#"{syslog: "siem.example.com"}"#, "/streams/0/id", "is missing"),
            (#"{id: "a"}"#, "/streams/0/syslog", "is missing, and so is file"),
            (#"{id: "a", syslog: "h", file: "f"}"#, "/streams/0/file", "make two streams"),
            (#"{id: "a", syslog: "h:0"}"#, "/streams/0/syslog", "expected HOST or HOST:PORT"),
            (#"{id: "a", syslog: "https://h"}"#, "/streams/0/syslog", "expected HOST or HOST:PORT"),
            (#"{id: "a", syslog: "h", tls: false}"#, "/streams/0/tls", "leave it out to use TLS"),
            (#"{id: "a", syslog: "h", clientKey: "client.key"}"#, "/streams/0/clientCertificate", "belong together"),
            (#"{id: "a", syslog: "h", clientKey: "none.key"}"#, "/streams/0/clientKey", "“none.key”"),
            (
                #"{id: "a", syslog: "h", trustedCertificates: "empty.pem"}"#, "/streams/0/trustedCertificates",
                "empty.pem"
            ),
            (#"{id: "a", syslog: "h", facility: 24}"#, "/streams/0/facility", "expected a number from 0 to 23"),
            (#"{id: "a", syslog: "h", maximumBytes: 480}"#, "/streams/0/maximumBytes", "2048 to 65536"),
            (#"{id: "a", file: "f", categories: ["keyuse"]}"#, "/streams/0/categories/0", "did you mean “keyUse”?"),
            (#"{id: "a", file: "f", categories: []}"#, "/streams/0/categories", "leave it out to send all"),
            (#"{id: "a", file: "f", facility: 1}"#, "/streams/0/facility", "is not a known member"),
            (#"{id: "a", file: "none/f"}"#, "/streams/0/file", "does not exist; make it first"),
            (#"{id: "a", file: ""}"#, "/streams/0/file", "expected the path of a file"),
            (#"{id: "a", file: "f"}, {id: "a", file: "g"}"#, "/endpoints", "a is listed twice"),
            (#"{id: "a", file: "f"}, {id: "b", file: "f"}"#, "/streams", "two of them have the same file"),
        ]
    )
    func `says what is wrong, where, and what to do`(streams: String, pointer: String, words: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try Self.read(streams) }
        let issues = (error?.issues ?? []).map { "\($0)" }
        #expect(issues.contains { $0.contains(pointer) && $0.contains(words) }, "\(issues)")
    }
}
