// SPDX-License-Identifier: Apache-2.0

/// How the program ends; `--help` lists the same.
enum ExitCode: Int32 {
    case success = 0
    /// The configuration is wrong, or the requested thing does not exist.
    case failure = 1
    /// The command line was not understood.
    case usage = 2
    /// The database, the port or the store could not be used, or the process not be made safe for keys.
    case unavailable = 3
}
