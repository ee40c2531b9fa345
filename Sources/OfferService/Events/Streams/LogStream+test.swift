// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import OfferDomain

extension LogStream {
    /// Sends a test message, or writes a test line, and says what came of it; blocks the thread.
    func test(at now: Timestamp) -> (isTaken: Bool, text: String) {
        switch target {
        case .syslog(let target): Self.test(target, id, at: now)
        case .file(let path): Self.test(path, id, at: now)
        }
    }

    private static func test(_ target: SyslogTarget, _ id: String, at now: Timestamp) -> (isTaken: Bool, text: String) {
        do throws(StreamError) {
            let connection = try StreamConnection(target.connection)
            let frame = SyslogWriter(target, origin: "-").testFrame(at: now)
            try connection.send(frame, stallMilliseconds: 10_000) { false }
            // A receiver that wants another certificate says so only after TLS 1.3 has begun.
            for _ in 0..<10 {
                connection.awaitInput(milliseconds: 100)
                try connection.discardInput()
            }
            let host = target.connection.origin.host
            guard connection.isAcknowledged else {
                return (false, "\(id): \(host) acknowledged nothing within 1 s; look at the network, and try again")
            }
            return (true, "\(id): \(host) was sent a test message, and kept the connection")
        } catch {
            return (false, "\(id): \(error)")
        }
    }

    private static func test(_ path: String, _ id: String, at now: Timestamp) -> (isTaken: Bool, text: String) {
        do throws(LogSinkError) {
            // Another user may run the test, and the service could not write to a file of that user.
            try LogFile(path: path, creates: false).write(StreamItem.testLine(at: now)) { false }
            return (true, "\(id): a test line was written to \(path)")
        } catch {
            return (false, "\(id): \(error)")
        }
    }
}
