// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// No signature leaves before its record is on disk: read from the system calls, as a loss of power would see it.
    @Suite struct DurabilityOrderTests {
        private static let calls = "pwrite64,write,fdatasync,fsync,sendto,writev,sendmsg"

        @Test(.aboutSQLite) func `every 200 is sent after a sync that follows the write of its records`() async throws {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            let trace = demo.directory.path(of: "trace")
            let strace = ["strace", "-D", "-f", "-y", "-tt", "-s", "1000000", "-e", "trace=\(Self.calls)", "-o", trace]
            let service = try await RunningService(demo, wrapper: strace)
            try Load.aim(at: service)
            let counts = try await Load(demo, threads: 16, requests: 400).finish()
            #expect(counts == ["200": 400])
            #expect(try await service.stop() == .exited(0))
            let lines = try await complete(trace, of: service)

            let verdict = try await check(lines, demo)
            #expect(verdict.succeeded, "\(verdict)")
            #expect(verdict.output == "400\n")

            // Without its syncs, the same trace is not accepted.
            #expect(try await check(lines.filter { !$0.contains("sync") }, demo).end == .exited(1))
        }

        /// The lines of a trace, once the tracer has written the end of the service.
        private func complete(_ trace: String, of service: RunningService) async throws -> [Substring] {
            var lines: [Substring] = []
            try await eventually("the trace is complete") {
                lines = textOfFile(trace).split(separator: "\n")
                return lines.suffix(64).contains {
                    $0.hasPrefix("\(service.process.id) ") && $0.hasSuffix("+++ exited with 0 +++")
                }
            }
            return lines
        }

        private func check(_ lines: [some StringProtocol], _ demo: DemoFolder) async throws -> ProcessOutcome {
            let path = try demo.directory.write(Array(lines.joined(separator: "\n").utf8), to: "judged")
            return try await Program.check(
                "durability_order",
                path,
                demo.database + "-wal",
                DemoFolder.bundle,
                DemoFolder.product
            )
        }

        @Test(arguments: TraceRow.all)
        func `the judge of the order knows good from bad`(_ row: TraceRow) async throws {
            let folder = try TemporaryDirectory()
            let trace = try folder.write(Array(row.trace.utf8), to: "trace")
            let verdict = try await Program.check("durability_order", trace, "/d/x.db-wal", "app", "pro")
            #expect(verdict.succeeded == row.isGood, "\(verdict)")
            #expect(verdict.output == "1\n")
        }
    }
}

/// A short trace, and whether the order in it is right.
struct TraceRow: CustomTestStringConvertible {
    let testDescription: String
    let isGood: Bool
    private let calls: [String]

    init(_ description: String, isGood: Bool, _ calls: String...) {
        testDescription = description
        self.isGood = isGood
        self.calls = calls
    }

    /// As strace would write it.
    var trace: String { calls.map { "\($0)\n" }.joined() }

    private static let write = writing(record)
    private static let record = #"{\"digest\":\""# + Answer.digest + #"\",\"ev\":\"sign.intent\"}"#
    private static let sync = "7 08:00:00.000002 fdatasync(5</d/x.db-wal>) = 0"
    private static let send =
        #"8 08:00:00.000003 writev(9<socket:[1]>, [{iov_base="HTTP/1.1 200 OK\r\n\r\n", iov_len=19}, "#
        + #"{iov_base="\#(Answer.escaped)", iov_len=99}], 2) = 118"#

    private static func writing(_ text: String, result: String = "4096") -> String {
        #"7 08:00:00.000001 pwrite64(5</d/x.db-wal>, "\0\1\33"# + text + #""..., 4096, 0) = \#(result)"#
    }

    static let all = [
        TraceRow("write, sync, send", isGood: true, write, sync, send),
        TraceRow(
            "a sync that another thread interrupts",
            isGood: true,
            write,
            "7 08:00:00.000002 fdatasync(5</d/x.db-wal> <unfinished ...>",
            "8 08:00:00.000002 write(3<anon_inode:[eventfd]>, \"1\", 1) = 1",
            "7 08:00:00.000003 <... fdatasync resumed>) = 0",
            send
        ),
        TraceRow("no sync", isGood: false, write, send),
        TraceRow("no write", isGood: false, sync, send),
        TraceRow("another record is written", isGood: false, writing("something else"), sync, send),
        TraceRow("the sync comes before the write", isGood: false, sync, write, send),
        TraceRow("the answer comes before the sync", isGood: false, write, send, sync),
        TraceRow(
            "the sync fails",
            isGood: false,
            write,
            sync.replacing("= 0", with: "= -1 EIO (Input/output error)"),
            send
        ),
        TraceRow(
            "the write fails",
            isGood: false,
            writing(record, result: "-1 ENOSPC (No space left on device)"),
            sync,
            send
        ),
        TraceRow("another file is synced", isGood: false, write, sync.replacing("x.db-wal", with: "x.db"), send),
        TraceRow(
            "the answer is sent while the sync is under way",
            isGood: false,
            write,
            "7 08:00:00.000002 fdatasync(5</d/x.db-wal> <unfinished ...>",
            send,
            "7 08:00:00.000003 <... fdatasync resumed>) = 0"
        ),
        TraceRow(
            "the write ends after the sync has begun",
            isGood: false,
            write.replacing(" = 4096", with: " <unfinished ...>").replacing(", 4096, 0)", with: ", 4096, 0"),
            sync.replacing("7 08", with: "6 08"),
            "7 08:00:00.000002 <... pwrite64 resumed>) = 4096",
            send
        ),
    ]
}

/// The answer in the traces: what a service would send for a payload whose digest `sha256sum` has computed.
private enum Answer {
    static let escaped =
        #"{\"grantId\":\"g\",\"identifier\":\"win\",\"keyIdentifier\":\"K\",\"nonce\":\"n\","#
        + #"\"timestamp\":1,\"signature\":\"s\",\"appAccountToken\":\"t\"}"#
    static let digest = "debb80d6fadd02d380d2f6b4a11bf29584739794dff1515eb1a1a4ddea377f96"
}
