// SPDX-License-Identifier: Apache-2.0
import Glibc
package import OfferDomain
import ServiceRuntime

/// What seals the service without a call of its API: a file, and a clock that jumps.
package struct SealSettings: Sendable {
    /// The file that seals while it is there; `nil` for none.
    package var sealFile: String?
    /// What follows from a clock that can't be relied on.
    package var clockCheck: ClockCheck
    /// By how many seconds the clock must jump to be noticed; 1 to 3,600.
    package var clockStepSeconds: Int

    package init(sealFile: String? = nil, clockCheck: ClockCheck = .seal, clockStepSeconds: Int = 2) {
        self.sealFile = sealFile
        self.clockCheck = clockCheck
        self.clockStepSeconds = clockStepSeconds
    }

    /// Why the file seals; what can't be looked at might be there.
    package var fileObstacle: String? {
        guard let path = sealFile else { return nil }
        var status = stat()
        if unsafe lstat(path, &status) == 0 { return "the file \(path) is there" }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        return "the file \(path) can't be looked for: \(systemMessage(errno))"
    }

    /// Why the file can't be put there now; `nil` if it can.
    package var folderFault: String? {
        guard let path = sealFile, let slash = path.lastIndex(of: "/") else { return nil }
        var status = stat()
        // With the slash at its end, it is a folder or nothing.
        let folder = String(path[...slash])
        if unsafe lstat(folder, &status) == 0 { return nil }
        guard errno == ENOENT || errno == ENOTDIR else { return nil }
        return "\(path) is in a folder that is not there: until it is, no file can seal the service"
    }

    /// Why a clock that is behind the last record seals.
    package func lag(of now: Timestamp, behind last: Timestamp?) -> String? {
        guard clockCheck == .seal, let last else { return nil }
        let milliseconds = last.milliseconds - now.milliseconds
        guard milliseconds > Int64(clockStepSeconds) * 1000 else { return nil }
        return "the time of day is \(milliseconds / 1000) s before that of the last record"
    }
}

/// What follows from a clock that can't be relied on.
package enum ClockCheck: String, CaseIterable, Hashable, Sendable {
    /// The service seals itself.
    case seal
    /// The service warns, and goes on.
    case warn
    /// The clock is not checked.
    case off
}
