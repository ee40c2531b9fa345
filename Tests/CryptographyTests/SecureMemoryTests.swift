// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Dispatch
import Glibc
import TestSupport
import Testing

/// How a process starts.
///
/// Each test has a process of its own.
struct SecureMemoryTests {
    @Test
    func `starts once, on whichever thread comes first`() async {
        await #expect(processExitsWith: .success) {
            let failures = Recorder()
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                do { try SecureMemory.start() } catch { failures.add() }
            }
            #expect(failures.count == 0)
            try SecureMemory.start()
            _ = try SecureBytes(copying: [1, 2, 3])
        }
    }

    @Test
    func `says that OpenSSL was used before`() async {
        await #expect(processExitsWith: .success) {
            _ = SHA256.digest(of: [1])
            #expect(throws: SecureMemoryError.openSSLAlreadyUsed) { try SecureMemory.start() }
            #expect(throws: SecureMemoryError.notStarted) { _ = try SecureBytes(copying: [1]) }
            try SecureMemory.start(conceding: .unwipedBlocks)
            #expect(throws: SecureMemoryError.openSSLAlreadyUsed) { try SecureMemory.start() }
        }
    }

    /// Threads may still use it while the process ends.
    @Test
    func `OpenSSL is of use until the process is gone`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            // What is registered first is called last: after all that OpenSSL could have registered.
            atexit { _exit((try? PrivateKey.generate()) == nil ? 43 : 42) }
            try SecureMemory.start()
            _ = try PrivateKey.generate()
            exit(0)
        }
    }

    @Test
    func `reads no secret before the start`() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(KeyTool.makeKey(), to: "key.p8")
        await #expect(processExitsWith: .success) { [path = path as String] in
            #expect(throws: SecretFileError.secureMemory(.notStarted)) { _ = try SecretFile.read(path: path) }
            #expect(throws: PrivateKeyError.secureMemory(.notStarted)) { _ = try PrivateKey.generate() }
        }
    }

    @Test
    func `refuses a heap that cannot be locked, unless that is conceded`() async {
        await #expect(processExitsWith: .success) {
            // Root may lock what it likes, so this must be another user, who may lock nothing.
            var none = rlimit(rlim_cur: 0, rlim_max: 0)
            try #require(unsafe setrlimit(__rlimit_resource_t(8), &none) == 0)
            if geteuid() == 0 { try #require(setuid(65_534) == 0) }
            #expect(throws: SecureMemoryError.pagesNotLocked(bytes: 65_536)) { try SecureMemory.start() }
            #expect(throws: SecureMemoryError.notStarted) { _ = try SecureBytes(copying: [1]) }
            try SecureMemory.start(conceding: .unlockedPages)
            _ = try SecureBytes(copying: [1])
        }
    }

    @Test(arguments: [0, 1024, 65_535, 65_537, -65_536])
    func `refuses a heap of an impossible size`(byteCount: Int) {
        #expect(throws: SecureMemoryError.heapSizeNotPowerOfTwo(bytes: byteCount)) {
            try SecureMemory.start(secureHeapBytes: byteCount)
        }
    }

    @Test
    func `says when the heap is full, and goes on when it is not any more`() async {
        await #expect(processExitsWith: .success) {
            try SecureMemory.start(secureHeapBytes: 4096)
            let half = [UInt8](repeating: 1, count: 2000)
            var kept: [SecureBytes] = []
            let error = #expect(throws: SecureMemoryError.self) {
                for _ in 0..<3 { kept.append(try SecureBytes(copying: half)) }
            }
            #expect(error == .heapExhausted(bytes: 2000))
            kept = []
            _ = try SecureBytes(copying: half)
        }
    }
}

struct ProcessHardeningTests {
    @Test
    func `forbids core dumps for good`() async {
        await #expect(processExitsWith: .success) {
            #expect(!ProcessHardening.areCoreDumpsForbidden)
            try ProcessHardening.forbidCoreDumps()
            #expect(ProcessHardening.areCoreDumpsForbidden)
            try ProcessHardening.forbidCoreDumps()
        }
    }

    @Test
    func `does not restart for ever`() async {
        await #expect(processExitsWith: .success) {
            unsafe unsetenv("SWIFT_BACKTRACE")
            unsafe setenv("OFFER_SIGNER_RESTARTED", "1", 1)
            #expect(throws: ProcessHardeningError.backtracerStaysOn) {
                try ProcessHardening.restartWithoutBacktracer()
            }
            unsafe setenv("SWIFT_BACKTRACE", "color=no,enable=no", 1)
            try ProcessHardening.restartWithoutBacktracer()
        }
    }

    @Test
    func `does not restart for other settings, and fails if it can't restart with the crash handler on`() async {
        await #expect(processExitsWith: .success) {
            // More than the system takes, so that it starts nothing.
            unsafe setenv("TOO_LARGE", String(repeating: "x", count: 1 << 20), 1)
            unsafe setenv("SWIFT_BACKTRACE", "enable=no", 1)
            try ProcessHardening.restartWithoutBacktracer(adding: ["OFFER_SIGNER_TEST": "gone"])
            let isSet = unsafe getenv("OFFER_SIGNER_TEST") != nil
            #expect(!isSet)
            unsafe setenv("SWIFT_BACKTRACE", "enable=yes", 1)
            #expect(throws: ProcessHardeningError.notRestarted(code: E2BIG)) {
                try ProcessHardening.restartWithoutBacktracer()
            }
        }
    }

    @Test(arguments: ["", "enable", "enable=", "enable=yes", "enable=no,enable=tty", "enable=not", "disable=no"])
    func `takes the crash handler for on`(settings: String) async {
        await #expect(processExitsWith: .success) { [settings = settings as String] in
            unsafe setenv("SWIFT_BACKTRACE", settings, 1)
            #expect(!ProcessHardening.isBacktracerOff)
        }
    }
}
