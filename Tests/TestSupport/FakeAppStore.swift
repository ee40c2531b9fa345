// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A fake App Store on 127.0.0.1: it signs like Apple with a chain of its own, answers the App Store Server API and OCSP,
/// and misbehaves on request.
///
/// The program is in `Tests/Fakes/AppStore`, and its README.md has all names and members. It runs until ``stop()``, or
/// until the last reference to this goes, or until the tests die. The calls block, for milliseconds.
package final class FakeAppStore: Sendable {
    package enum Environment: String, Codable, CaseIterable, Sendable {
        case production = "Production"
        case sandbox = "Sandbox"
    }

    package enum Scheme: String, Sendable {
        case https, http
    }

    private struct Description: Decodable {
        let origins: [String: [String: String]]
        let ocsp: String
        let rootPEMPath: String
        let tlsCAPath: String
    }

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
    private let description: Description

    /// The root that its signed data ends at.
    package var rootPEMPath: String { description.rootPEMPath }
    /// The authority that its TLS certificate ends at.
    package var tlsCAPath: String { description.tlsCAPath }
    /// The OCSP responder that its certificates name, up to the last segment of the path.
    package var ocspURL: String { description.ocsp }
    /// What it complained of.
    package var complaints: String { textOfFile(directory.path(of: "errors")) }

    /// Starts it, and waits until it listens.
    package init() throws {
        directory = try TemporaryDirectory()
        channel = try LineChannel(in: directory)
        process = try ChildProcess(
            // Debian's, because that is where Debian's python3-cryptography and python3-h2 are.
            ["/usr/bin/python3", "-B", Self.program, "--folder", directory.path],
            environment: ownEnvironment(),
            input: channel.inputPath,
            output: channel.outputPath,
            errors: directory.path(of: "errors")
        )
        do {
            description = try JSONDecoder().decode(Description.self, from: Data(try channel.nextLine()))
        } catch {
            throw ChildProcess.Failure("\(error): \(textOfFile(directory.path(of: "errors")))")
        }
    }

    deinit {
        stop()
    }

    private static let program: String = {
        var url = URL(filePath: #filePath)
        for _ in 0..<2 { url.deleteLastPathComponent() }
        return url.appending(path: "Fakes/AppStore").path
    }()

    /// Ends it; its ports refuse connections from then on.
    package func stop() {
        channel.close()
        for _ in 0..<500 where process.ended == nil { usleep(10_000) }
        process.send(SIGKILL)
    }

    /// Where an environment's API is: scheme, address and port, without a slash at the end.
    package func apiOrigin(_ environment: Environment = .production, _ scheme: Scheme = .https) -> String {
        description.origins[scheme.rawValue]?[environment.rawValue] ?? ""
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

    struct Nothing: Codable {}
}

extension FakeAppStore {
    /// A value of a member in JSON, written as a literal; `.null` takes a member away.
    package enum Value: Hashable, Sendable {
        case null
        case boolean(Bool)
        case integer(Int)
        case number(Double)
        case text(String)
        case array([Value])
        case object([String: Value])
    }

    package typealias Members = [String: Value]
}

extension FakeAppStore.Value: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}

extension FakeAppStore.Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
}

extension FakeAppStore.Value: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .text(value) }
    package init(arrayLiteral elements: FakeAppStore.Value...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, FakeAppStore.Value)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
