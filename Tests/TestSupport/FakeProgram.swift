// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A program of `Tests/Fakes` that takes control calls.
///
/// It runs until ``stop()``, or until the last reference to this goes, or until the tests die. The calls block, for
/// milliseconds.
final class FakeProgram: Sendable {
    private struct Message<Arguments: Encodable>: Encodable {
        let call: String
        let arguments: Arguments
    }

    private struct Answer<Result: Decodable>: Decodable {
        let result: Result?
        let error: String?
    }

    private let directory: TemporaryDirectory
    private let channel: LineChannel
    private let id: Int32
    private let firstLine: [UInt8]
    private let isStopped = Atomic(false)

    /// What it complained of.
    var complaints: String { textOfFile(directory.path(of: "errors")) }

    /// Starts the program of a folder in `Tests/Fakes`, and waits until it listens.
    init(_ folder: String) throws {
        directory = try TemporaryDirectory()
        channel = try LineChannel(in: directory)
        id = try FakeStarter.shared(folder).start(in: directory)
        do {
            firstLine = try channel.nextLine()
        } catch {
            throw ChildProcess.Failure("\(error): \(textOfFile(directory.path(of: "errors")))")
        }
    }

    deinit {
        stop()
    }

    /// Ends it; its ports refuse connections from then on.
    func stop() {
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        channel.close()
        for _ in 0..<500 where kill(id, 0) == 0 { usleep(10_000) }
        if kill(id, 0) == 0 { kill(id, SIGKILL) }
    }

    /// What it said of itself when it began.
    func description<Description: Decodable>() throws -> Description {
        do {
            return try JSONDecoder().decode(Description.self, from: Data(firstLine))
        } catch {
            throw ChildProcess.Failure("\(error): \(complaints)")
        }
    }

    /// Makes a control call; a refusal is thrown with the fake's reason.
    func call<Result: Decodable>(_ name: String, _ arguments: some Encodable) throws -> Result {
        let message = try JSONEncoder().encode(Message(call: name, arguments: arguments))
        let answer = try JSONDecoder().decode(
            Answer<Result>.self,
            from: Data(try channel.answer(to: Array(message)))
        )
        guard let result = answer.result else { throw ChildProcess.Failure(answer.error ?? "no result of \(name)") }
        return result
    }

    /// Makes a control call whose answer says nothing.
    func perform(_ name: String, _ arguments: some Encodable) throws {
        let _: Nothing = try call(name, arguments)
    }
}

/// No arguments, or an answer that says nothing.
struct Nothing: Codable {}

/// A process that starts the fakes of one folder by forking, which spares each of them the start of Python.
private final class FakeStarter: Sendable {
    private let directory: TemporaryDirectory
    private let channel: LineChannel
    private let process: ChildProcess

    private static let starters = Mutex<[String: FakeStarter]>([:])

    /// The one of a folder in `Tests/Fakes`, for all tests of the run.
    static func shared(_ folder: String) throws -> FakeStarter {
        try starters.withLock { starters in
            let starter = try starters[folder] ?? FakeStarter(folder)
            starters[folder] = starter
            return starter
        }
    }

    private init(_ folder: String) throws {
        directory = try TemporaryDirectory()
        channel = try LineChannel(in: directory)
        process = try ChildProcess(
            // Debian's, because that is where Debian's python3-cryptography and python3-h2 are.
            ["/usr/bin/python3", "-B", Self.fakes.appending(path: folder).path, "--prefork"],
            environment: ownEnvironment(),
            input: channel.inputPath,
            output: channel.outputPath,
            errors: directory.path(of: "errors")
        )
    }

    /// Starts a fake whose pipes are in the directory, and returns the id of its process.
    func start(in folder: TemporaryDirectory) throws -> Int32 {
        do {
            let line = try channel.answer(to: Array(folder.path.utf8))
            guard let id = Int32(String(decoding: line, as: UTF8.self)) else {
                throw ChildProcess.Failure("\(line) is no process")
            }
            return id
        } catch {
            throw ChildProcess.Failure("\(error): \(textOfFile(directory.path(of: "errors")))")
        }
    }

    private static let fakes: URL = {
        var url = URL(filePath: #filePath)
        for _ in 0..<2 { url.deleteLastPathComponent() }
        return url.appending(path: "Fakes")
    }()
}
