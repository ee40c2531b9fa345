// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// When records can't be written, nothing is signed; when they can be again, the service goes on by itself.
    @Suite(.aboutSQLite) struct DiskTests {
        /// The database on a disk of its own, which only the service and who enters its name space can see.
        private struct SmallDisk {
            let demo: DemoFolder
            let service: RunningService

            init(_ demo: DemoFolder) async throws {
                self.demo = demo
                let script = """
                    mount -t tmpfs -o size=12m,mode=0700 tmpfs "$1" && cp -p "$2" "$1/" && shift 2 && exec "$@"
                    """
                let folder = demo.path(of: "disk")
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                service = try await RunningService(
                    demo,
                    wrapper: ["unshare", "-m", "sh", "-c", script, "sh", folder, demo.database],
                    database: "demo/disk/offer-signer.db"
                )
            }

            /// Runs a command where the disk is mounted; `$1` is its folder.
            func run(_ script: String) async throws -> ProcessOutcome {
                try await runProcess(
                    ["nsenter", "-t", "\(service.process.id)", "-m", "sh", "-c", script, "sh", demo.path(of: "disk")]
                )
            }
        }

        private static let mayMount = Program.isRoot && FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare")

        @Test(.enabled(if: mayMount, "only root may mount a small disk"))
        func `a full disk stops signatures, and only for as long as it is full`() async throws {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            let disk = try await SmallDisk(demo)
            let load = try Load(demo)
            try Load.aim(at: disk.service)
            try await eventually("signatures are made") { Load.delivered(to: demo) > 20 }
            // It fills while requests are under way.
            _ = try await disk.run(#"dd if=/dev/zero of="$1/ballast" bs=4k 2>/dev/null"#)
            try await expectRefusals(disk.service)

            #expect(try await disk.run(#"rm "$1/ballast""#).succeeded)
            try await expectRecovery(disk.service, demo)
            let counts = try await load.stop()
            #expect(counts["/problems/audit-unavailable", default: 0] > 0, "\(counts)")
            #expect(counts["no answer"] == nil, "\(counts)")

            #expect(try await disk.run(#"cp "$1"/offer-signer.db* "$(dirname "$1")""#).succeeded)
            let verdict = try await Load.checkRecords(of: demo)
            #expect(verdict.succeeded, "\(verdict)")
            try await expectResumption(demo)
            #expect(try await disk.service.stop() == .exited(0))
        }

        @Test(arguments: DiskFault.all)
        func `what the disk refuses is not signed`(_ fault: DiskFault) async throws {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            let service = try await RunningService(demo)
            let load = try Load(demo)
            try Load.aim(at: service)
            try await eventually("signatures are made") { Load.delivered(to: demo) > 20 }
            let injector = try ChildProcess(
                ["strace", "-f", "-o", "/dev/null", "-e", "trace=\(fault.calls)"]
                    + ["-e", "inject=\(fault.calls):error=\(fault.error)", "-p", "\(service.process.id)"],
                environment: ownEnvironment()
            )
            try await expectRefusals(service)
            injector.send(SIGTERM)
            _ = try await injector.waitForEnd()
            try await expectRecovery(service, demo)
            let counts = try await load.stop()
            #expect(counts["/problems/audit-unavailable", default: 0] > 0, "\(counts)")
            #expect(counts["no answer"] == nil, "\(counts)")
            #expect(try await service.stop() == .exited(0))
            let verdict = try await Load.checkRecords(of: demo)
            #expect(verdict.succeeded, "\(verdict)")
            try await expectResumption(demo)
        }

        @Test func `a limit on the size of files stops signatures, and does not end the service`() async throws {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            let service = try await RunningService(demo)
            let load = try Load(demo)
            try Load.aim(at: service)
            try await eventually("signatures are made") { Load.delivered(to: demo) > 20 }
            func limit(_ bytes: String) async throws {
                let words = ["prlimit", "--pid", "\(service.process.id)", "--fsize=\(bytes):"]
                #expect(try await runProcess(words).succeeded)
            }
            try await limit("4096")
            try await expectRefusals(service)
            try await limit("unlimited")
            // Its log is a file as well, and could not grow either.
            try await expectRecovery(service, demo, hasLog: false)
            _ = try await load.stop()
            #expect(try await service.stop() == .exited(0))
            let verdict = try await Load.checkRecords(of: demo)
            #expect(verdict.succeeded, "\(verdict)")
            try await expectResumption(demo)
        }

        @Test(arguments: [["", "-wal", "-shm"], ["-wal"], [""]])
        func `a database with removed files is noticed before anything is signed`(
            _ files: [String]
        ) async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            #expect(try service.sign(demo.request(customer: "first")).status == 200)
            for file in files { try FileManager.default.removeItem(atPath: demo.database + file) }
            let answer = try service.sign(demo.request(customer: "second"))
            #expect(answer.status == 503, "\(answer)")
        }

        // MARK: -

        /// Requests are refused as such, readiness says why, and the process lives.
        private func expectRefusals(_ service: RunningService) async throws {
            try await eventually("readiness is lost") { try service.ask("/health/ready").status == 503 }
            let before = Load.delivered(to: service.demo)
            let answer = try service.sign(service.demo.request(customer: "during"))
            #expect(answer.status == 503, "\(answer)")
            #expect(answer.body.contains(#""type":"/problems/audit-unavailable""#))
            #expect(answer.headers["retry-after"] != nil)
            #expect(!answer.body.contains("signature\":"))
            #expect(try service.ask("/health/ready").body.contains(#""name":"audit-unavailable""#))
            #expect(try service.ask("/health/live").status == 200)
            // Let it go on for a while: the checker of the records judges whatever is delivered now.
            try await Task.sleep(for: .milliseconds(1500))
            #expect(Load.delivered(to: service.demo) - before < 20)
        }

        /// It is on record that records could not be written, and since when.
        private func expectResumption(_ demo: DemoFolder) async throws {
            let query = try await Program.run(
                ["audit", "query", "--event", "audit.resume", "--database", demo.location]
            )
            #expect(query.succeeded && query.output.contains(#""since":"#), "\(query)")
        }

        /// It goes on by itself.
        private func expectRecovery(
            _ service: RunningService,
            _ demo: DemoFolder,
            hasLog: Bool = true
        ) async throws {
            try await eventually("readiness is back") { try service.ask("/health/ready").status == 200 }
            #expect(try service.sign(demo.request(customer: "after")).status == 200)
            let before = Load.delivered(to: demo)
            try await eventually("the load has answers again") { Load.delivered(to: demo) > before + 20 }
            if hasLog { try await service.logs("records could not be written") }
            try await service.logs("records can be written again")
        }
    }
}

/// A way in which a disk fails, as system calls show it.
struct DiskFault: CustomTestStringConvertible {
    let testDescription: String
    let calls: String
    let error: String

    static let all = [
        DiskFault(testDescription: "syncing fails", calls: "fdatasync,fsync", error: "EIO"),
        DiskFault(testDescription: "writing fails", calls: "pwrite64", error: "EIO"),
        DiskFault(testDescription: "the file system has become read-only", calls: "pwrite64", error: "EROFS"),
        DiskFault(testDescription: "the quota is used up", calls: "pwrite64", error: "EDQUOT"),
    ]
}
