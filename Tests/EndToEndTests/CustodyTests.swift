// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Secrets stay where they belong, whatever happens to the process.
    @Suite struct CustodyTests {
        /// Looks for the private key in every form, for the API key, and for more texts; names what it finds.
        private func search(
            _ files: [String],
            _ demo: DemoFolder,
            beside texts: [String] = []
        ) async throws -> ProcessOutcome {
            let present = files.filter { FileManager.default.fileExists(atPath: $0) }
            let secrets = [demo.apiKey, String(demo.apiKey.split(separator: ".")[1])] + texts
            return try await runProcess(
                [Program.python, "-B", Program.checker("needles"), "files", demo.privateKey]
                    + [secrets.joined(separator: ",")] + present
            )
        }

        /// Asks in many ways, good and bad ones, so that there is something to log.
        private func causeLogLines(_ service: RunningService, _ token: String) throws {
            let demo = service.demo
            _ = try service.sign(demo.request(customer: "logged", token: token))
            _ = try service.sign(demo.request(customer: "logged", token: token) + "x")
            _ = try service.sign(demo.request(customer: "logged", token: token + "x"))
            _ = try service.sign(demo.request(customer: "logged", token: token), apiKey: demo.apiKey + "x")
            _ = try service.ask("/" + demo.apiKey)
            _ = try service.ask("/metrics")
        }

        @Test func `neither output nor log nor database nor environment holds a secret`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo, options: ["--log", "debug"])
            let token = UUID().uuidString.lowercased()
            try causeLogLines(service, token)
            try await service.reload()
            let added = try await Program.run(
                ["callers", "add", "another", "--role", "app", "--database", demo.location]
            )
            let secret = added.output.split(separator: ".").last.map { String($0.dropLast()) } ?? "?"
            #expect(secret.count > 20)
            let list = try await Program.run(["keys", "list"] + demo.options())
            try demo.write(list.output + list.errors + added.errors, to: "said")

            let proc = "/proc/\(service.process.id)"
            let files = [
                service.logPath, service.outputPath, try demo.databaseContents(), demo.path(of: "said"),
                "\(proc)/cmdline",
            ]
            let running = try await search(
                files + (Program.isRoot ? ["\(proc)/environ"] : []),
                demo,
                beside: [token, token.uppercased(), secret]
            )
            #expect(running.succeeded, "\(running)")
            #expect(try await service.stop() == .exited(0))
            let stopped = try await search([service.logPath, demo.databaseContents()], demo, beside: [token, secret])
            #expect(stopped.succeeded, "\(stopped)")
            // The search finds what is there.
            let planted = try demo.directory.write(Array("so \(demo.apiKey) it is".utf8), to: "planted")
            #expect(try await search([planted], demo).end == .exited(1))
            #expect(try await search([demo.privateKey], demo).end == .exited(1))
        }

        @Test func `core dumps are forbidden and the crash handler is off`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            let limits = textOfFile("/proc/\(service.process.id)/limits")
            #expect(limits.contains(#/Max core file size +0 +0 /#), "\(limits)")
            guard Program.isRoot else { return }
            #expect(textOfFile("/proc/\(service.process.id)/environ").contains("SWIFT_BACKTRACE=enable=no\0"))
        }

        /// Run by hand, by the start that turns the crash handler off; the package and the container need no second start.
        @Test(.enabled(if: Program.isRoot, "only root may look into the service"))
        func `the allocator has the settings that the package and the container give it`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            let environment = textOfFile("/proc/\(service.process.id)/environ").split(separator: "\0")
            let place = try #require(environment.firstIndex { $0.hasPrefix("GLIBC_TUNABLES=") })
            // The loader ends each of them with a zero byte, where they stand.
            let others = environment[(place + 1)...].prefix { $0.hasPrefix("glibc.") }
            let settings = ([environment[place]] + others).joined(separator: ":")
            #expect(settings.contains("mmap_threshold"))
            for file in ["debian/offer-signer.service", "Dockerfile"] {
                let lines = textOfFile("\(Program.root)/\(file)").split(whereSeparator: \.isNewline)
                #expect(lines.contains { $0.contains(settings) }, "\(file): \(settings)")
            }
        }

        /// The kernel gives the files in /proc of a process that must not be dumped to root.
        @Test(
            .enabled(if: Program.isRoot, "only root may start the service as another user"),
            // The tests' PostgreSQL server admits its owner and root alone.
            .aboutSQLite
        )
        func `no process of the same user can look into the service`() async throws {
            let demo = try await DemoFolder()
            let folder = demo.directory.path
            let program = demo.directory.path(of: "offer-signer")
            try FileManager.default.copyItem(atPath: Program.path, toPath: program)
            #expect(try await runProcess(["chown", "-R", "nobody", folder]).succeeded)
            let asNobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
            let canRun = try await runProcess(asNobody + [program, "--version"])
            guard canRun.succeeded else { try Test.cancel("nobody can't run a program here: \(canRun.errors)") }
            let service = try await RunningService(demo, wrapper: asNobody, program: program)
            let status = textOfFile("/proc/\(service.process.id)/status")
            #expect(status.contains(/Uid:\t65534\t65534/), "\(status)")
            let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(service.process.id)/mem")
            #expect(owner[.ownerAccountID] as? Int == 0)
            let neighbour = try await runProcess(
                asNobody + ["dd", "if=/proc/\(service.process.id)/maps", "of=/dev/null", "count=1"]
            )
            #expect(!neighbour.succeeded, "\(neighbour)")
        }

        @Test(
            .disabled(if: Sanitizer.isActive, "a sanitizer reports crashes itself"),
            arguments: [SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTRAP]
        )
        func `a crash prints nothing and leaves no core`(_ signal: Int32) async throws {
            let demo = try await DemoFolder()
            let folder = demo.directory.path(of: "cores")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let service = try await RunningService(
                demo,
                wrapper: ["sh", "-c", #"ulimit -c unlimited 2>/dev/null; cd "$1" && shift && exec "$@""#, "sh", folder]
            )
            #expect(try service.sign(demo.text(of: "request.json")).status == 200)
            service.process.send(signal)
            #expect(try await service.process.waitForEnd() == .killed(bySignal: signal))
            // A backtrace is no line of the log.
            #expect(service.log.split(separator: "\n").allSatisfy { $0.hasPrefix(#"{"time":"#) }, "\(service.log)")
            #expect(textOfFile(service.outputPath) == "")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
            #expect(try await Load.checkRecords(of: demo).succeeded)
        }

        @Test(
            .enabled(if: Program.isRoot, "only root may read the memory of the service"),
            .disabled(if: Sanitizer.isActive, "a sanitizer keeps freed memory")
        )
        func `one copy of a key is in memory while it is loaded, and none afterwards`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            #expect(try service.sign(demo.text(of: "request.json")).status == 200)
            #expect(try await copies(of: demo.privateKey, in: service) == "0 1 0\n")

            // A key that only retires is still loaded; one that has left the file is gone.
            let old = demo.privateKey
            _ = try demo.rotateKey(to: "NEW123DEFG")
            try await service.reload()
            let new = demo.path(of: "SubscriptionKey_NEW123DEFG.p8")
            #expect(try await copies(of: old, in: service) == "0 1 0\n")
            #expect(try await copies(of: new, in: service) == "0 1 0\n")
            try demo.edit("keys", replacing: #"status: "retiring""#, with: #"status: "disabled""#)
            try await service.reload()
            #expect(try service.sign(demo.text(of: "request.json")).status == 200)
            try await eventually("the old key is gone") { try await self.copies(of: old, in: service) == "0 0 0\n" }
            #expect(try await copies(of: new, in: service) == "0 1 0\n")
        }

        /// As DER has the number, as OpenSSL computes with it, as a line of its text.
        private func copies(of key: String, in service: RunningService) async throws -> String {
            try await Program.check("needles", "memory", key, "\(service.process.id)").output
        }
    }
}
