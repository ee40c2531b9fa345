// SPDX-License-Identifier: Apache-2.0
import Foundation

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
    private let process: ChildProcess
    private let firstLine: [UInt8]

    /// What it complained of.
    var complaints: String { textOfFile(directory.path(of: "errors")) }

    /// Starts the program of a folder in `Tests/Fakes`, and waits until it listens.
    init(_ folder: String) throws {
        directory = try TemporaryDirectory()
        channel = try LineChannel(in: directory)
        let errors = directory.path(of: "errors")
        process = try ChildProcess(
            // Debian's, because that is where Debian's python3-cryptography and python3-h2 are.
            ["/usr/bin/python3", "-B", Self.fakes.appending(path: folder).path, "--folder", directory.path],
            environment: ownEnvironment(),
            input: channel.inputPath,
            output: channel.outputPath,
            errors: errors
        )
        do {
            firstLine = try channel.nextLine()
        } catch {
            throw ChildProcess.Failure("\(error): \(textOfFile(errors))")
        }
    }

    deinit {
        stop()
    }

    private static let fakes: URL = {
        var url = URL(filePath: #filePath)
        for _ in 0..<2 { url.deleteLastPathComponent() }
        return url.appending(path: "Fakes")
    }()

    /// Ends it; its ports refuse connections from then on.
    func stop() {
        channel.close()
        for _ in 0..<500 where process.ended == nil { usleep(10_000) }
        process.send(SIGKILL)
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
