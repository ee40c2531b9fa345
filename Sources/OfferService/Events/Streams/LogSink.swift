// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP

/// Where entries of the log go; used by one thread.
protocol LogSink: AnyObject {
    /// Whether what was written is safe as soon as ``write(_:isStopped:)`` returns.
    var isDurable: Bool { get }
    /// The most bytes of one ``write(_:isStopped:)``, but for the last entry in it.
    var batchBytes: Int { get }
    /// An entry as it is written.
    func bytes(of item: StreamItem) -> [UInt8]
    /// Writes entries in order, connecting or opening first where it has to; blocks the thread.
    func write(_ bytes: [UInt8], isStopped: () -> Bool) throws(LogSinkError)
    /// Notices that the other side has ended the connection.
    func check() throws(LogSinkError)
    /// Whether the other side's system has everything.
    var isAcknowledged: Bool { get }
    /// Ends the connection, or closes the file.
    func close()
}

/// Why entries could not be written.
struct LogSinkError: Error, CustomStringConvertible {
    let description: String
    /// From a closed list.
    let label: String
    /// Whether the other side may have dropped what it had not read.
    var wasReset = false
    var isStop = false
}

extension LogSinkError {
    init(_ error: StreamError) {
        (description, label) = (error.description, error.label)
        switch error {
        case .broken, .stalled: wasReset = true
        case .stopped: isStop = true
        case .notConnected, .closed: break
        }
    }
}

/// Sends syslog messages over one connection.
final class SyslogSink: LogSink {
    private let configuration: StreamConfiguration
    private let writer: SyslogWriter
    private var connection: StreamConnection?

    init(_ target: SyslogTarget, origin: String) {
        configuration = target.connection
        writer = SyslogWriter(target, origin: origin)
    }

    let isDurable = false
    let batchBytes = 32 << 10
    /// A receiver that reads nothing for so long has its connection closed.
    static let stallMilliseconds: Int64 = 30_000

    func bytes(of item: StreamItem) -> [UInt8] { writer.frame(item) }

    func write(_ bytes: [UInt8], isStopped: () -> Bool) throws(LogSinkError) {
        do throws(StreamError) {
            let open = if let connection { connection } else { try StreamConnection(configuration) }
            connection = open
            try open.send(bytes, stallMilliseconds: Self.stallMilliseconds, isStopped: isStopped)
        } catch {
            connection = nil
            throw LogSinkError(error)
        }
    }

    func check() throws(LogSinkError) {
        do throws(StreamError) {
            try connection?.discardInput()
        } catch {
            connection = nil
            throw LogSinkError(error)
        }
    }

    var isAcknowledged: Bool { connection?.isAcknowledged ?? false }

    func close() { connection = nil }
}
