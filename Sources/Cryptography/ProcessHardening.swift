// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// What a process that holds keys asks of Linux and of the Swift runtime, so that a crash does not print them.
///
/// Call ``restartWithoutBacktracer(adding:)`` first, because `execve` undoes the rest.
package enum ProcessHardening {
    /// Forbids core dumps, and debuggers of the same user, for the rest of the process's life.
    ///
    /// `PR_SET_DUMPABLE` is set to 0 and `RLIMIT_CORE` to 0, soft and hard.
    package static func forbidCoreDumps() throws(ProcessHardeningError) {
        guard shim_prctl_set_dumpable(0) == 0 else { throw .coreDumpsNotForbidden(code: errno) }
        guard shim_forbid_core_files() == 0 else { throw .coreDumpsNotForbidden(code: errno) }
        guard areCoreDumpsForbidden else { throw .coreDumpsNotForbidden(code: 0) }
    }

    /// Whether neither a core dump nor a debugger of the same user can read the memory.
    package static var areCoreDumpsForbidden: Bool {
        shim_prctl_get_dumpable() == 0 && shim_core_files_forbidden() == 1
    }

    /// Whether Swift's crash handler is off.
    ///
    /// By default it prints registers, and the bytes they point at, to standard error: a key could be among them.
    package static var isBacktracerOff: Bool {
        guard let settings = unsafe getenv("SWIFT_BACKTRACE") else { return false }
        return isBacktracerOff(settings: unsafe String(cString: settings))
    }

    /// Reads the value of `SWIFT_BACKTRACE`: comma-separated settings; the last `enable` setting counts.
    static func isBacktracerOff(settings: String) -> Bool {
        let enabling = settings.split(separator: ",").last { $0.hasPrefix("enable=") }
        return enabling == "enable=no"
    }

    /// Restarts the program with `SWIFT_BACKTRACE=enable=no`, which the runtime reads only at its start.
    ///
    /// Returns at once if the handler is off already. Call it while the process has one thread. The program keeps its
    /// process id, arguments, open files and all other environment.
    ///
    /// - Parameter settings: Variables that this start sets, too, unless they are set already.
    /// - Throws: That the handler stays on, or that the program could not be restarted to turn it off.
    package static func restartWithoutBacktracer(
        adding settings: KeyValuePairs<String, String> = [:]
    ) throws(ProcessHardeningError) {
        if isBacktracerOff { return }
        // A runtime or wrapper that undoes the setting would have the program restart for ever.
        guard unsafe getenv(restartedOnce) == nil else { throw .backtracerStaysOn }
        guard
            unsafe setenv("SWIFT_BACKTRACE", "enable=no", 1) == 0,
            unsafe setenv(restartedOnce, "1", 1) == 0
        else { throw .notRestarted(code: errno) }
        for (name, value) in settings { unsafe setenv(name, value, 0) }
        unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
        throw .notRestarted(code: errno)
    }

    /// Names the process, as `ps` and `pgrep` show it: a restart has left it named after the link that it went through.
    ///
    /// - Parameter name: Of at most 15 bytes; Linux cuts longer ones off. To be called on the first thread.
    package static func nameProcess(_ name: String) {
        unsafe shim_name_thread(name)
    }

    private static let restartedOnce = "OFFER_SIGNER_RESTARTED"
}

/// Why the process could not be hardened.
///
/// A `code` is an `errno`.
package enum ProcessHardeningError: Error, Hashable, Sendable, CustomStringConvertible {
    case coreDumpsNotForbidden(code: Int32)
    case backtracerStaysOn
    case notRestarted(code: Int32)

    /// A sentence for the operator, with what to set where that helps.
    package var description: String {
        switch self {
        case .coreDumpsNotForbidden(let code):
            "Core dumps could not be forbidden: \(describe(code))."
        case .backtracerStaysOn:
            "Swift's crash handler is still on after a restart that turned it off; set SWIFT_BACKTRACE=enable=no."
        case .notRestarted(let code):
            "The program could not be restarted with Swift's crash handler off: \(describe(code)). "
                + "Set SWIFT_BACKTRACE=enable=no."
        }
    }
}
