// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Glibc
import OfferService
import ServiceRuntime
import TransparencyLog

/// `offer-signer serve`.
enum ServeCommand: Command {
    static let name = "serve"
    static let summary = "run the service"
    static var help: String {
        """
        offer-signer serve runs the service in the foreground.

        Usage: offer-signer serve [OPTIONS]

        It logs to standard error, one line for each decision and refusal: text on a terminal, and JSON otherwise.
        SIGHUP makes it read keys, offers, callers and its TLS certificate again, all of them or none; SIGTERM and
        SIGINT let it finish what is in flight and end.

        Options, with their defaults, and the environment variables that do the same:

        \(SettingsOptions.help())
        """
    }

    /// Settings of glibc's allocator for a program that is run by hand; the unit and the Dockerfile have the same.
    ///
    /// Each thread keeps up to 128 freed blocks of a size for itself, and not 7: many requests are under way at once, each
    /// with the same few blocks. That saves 2 % of the instructions of a signature. Blocks of 256 KiB or more are mappings of
    /// their own and go back to the system when they are freed: otherwise glibc takes them from the heaps of the threads after
    /// the first that was freed, and what is allocated above them keeps the heaps as large as they ever were.
    private static let memorySettings: KeyValuePairs = [
        "GLIBC_TUNABLES": "glibc.malloc.tcache_count=128:glibc.malloc.mmap_threshold=262144"
    ]

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SettingsOptions.names)
        _ = try parsed.words()
        let settings = try SettingsOptions.settings(parsed)
        do {
            try ProcessHardening.restartWithoutBacktracer(adding: memorySettings)
        } catch {
            throw CommandError(error.description, .unavailable)
        }
        ProcessHardening.nameProcess("offer-signer")
        try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
        let signals = SignalWaiter(SIGHUP, SIGTERM, SIGINT)
        let service = try start(settings)
        let manager = ServiceManager.ofEnvironment
        service.notify(manager, .ready)
        service.notifyWhileAlive(manager)
        while signals.next() == SIGHUP { service.reload() }
        service.notify(manager, .stopping)
        service.stop()
        return .success
    }

    private static func start(_ settings: Settings) throws(CommandError) -> Service {
        do {
            let style = LogStyle.standardError(settings.logFormat, environment: environment())
            let dependencies = try Dependencies.system(logLevel: settings.logLevel, logStyle: style)
            let service = try Service(settings: settings, dependencies: dependencies)
            try service.start()
            return service
        } catch let error as ServiceError {
            throw CommandError(error)
        } catch {
            throw CommandError("\(error)", .unavailable)
        }
    }
}

extension CommandError {
    /// Why the service does not start.
    init(_ error: ServiceError) {
        switch error {
        case .configuration(let error): self.init(error)
        case .database(let error): self.init("\(error)", .unavailable)
        case .log(let mismatch): self.init("\(mismatch)", mismatch.isOfConfiguration ? .failure : .unavailable)
        case .records(let error): self.init("\(error)", .unavailable)
        case .server(let fault): self.init("\(fault)\(error.advice)", .unavailable)
        case .client(let error): self.init("\(error)", .unavailable)
        }
    }
}

/// Waits for signals on the thread that asks; made before any other thread, so that all of them inherit the mask.
private struct SignalWaiter {
    private var set = sigset_t()

    init(_ signals: Int32...) {
        unsafe sigemptyset(&set)
        for signal in signals { unsafe sigaddset(&set, signal) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        // Writing to a connection that the client has closed must be an error, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // So must writing beyond the limit on the size of files: nothing is signed then, and readiness says why.
        signal(SIGXFSZ, SIG_IGN)
    }

    func next() -> Int32 {
        var received: Int32 = 0
        var set = set
        while unsafe sigwait(&set, &received) != 0 {}
        return received
    }
}
