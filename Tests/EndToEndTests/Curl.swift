// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// What came back to curl; status 0 if nothing did.
struct CurlAnswer: CustomStringConvertible {
    let end: ChildProcess.End
    let head, body: String

    var status: Int { head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 }
    var description: String { "\(end)\n\(head)\n\(body.prefix(400))" }

    func field(_ name: String) -> String? {
        head.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix(name + ":") }
            .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(body.utf8))
    }

    /// What a JSON pointer finds in the body; `nil` if there is nothing.
    func value(_ pointer: String) -> String? { jsonValue(pointer, in: body) }
}

/// Asks with curl, which trusts one authority only.
func curl(_ url: String, trusting authority: String, _ options: [String]) async throws -> CurlAnswer {
    let folder = try TemporaryDirectory()
    let (head, body) = (folder.path(of: "head"), folder.path(of: "body"))
    let outcome = try await runProcess(
        ["curl", "-sS", "--noproxy", "*", "--cacert", authority, "-D", head, "-o", body] + options + [url]
    )
    return CurlAnswer(end: outcome.end, head: textOfFile(head), body: textOfFile(body))
}

/// What a JSON pointer finds in a text: the text of a string, a compact writing of anything else, or `nil`.
func jsonValue(_ pointer: String, in text: String) -> String? {
    var value = try? JSONSerialization.jsonObject(with: Data(text.utf8))
    for name in pointer.split(separator: "/") {
        if let list = value as? [Any] {
            value = Int(name).flatMap { list.indices.contains($0) ? list[$0] : nil }
        } else {
            value = (value as? [String: Any])?[String(name)]
        }
    }
    guard let value else { return nil }
    if let string = value as? String { return string }
    let written = try? JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys])
    return written.map { String(decoding: $0, as: UTF8.self) }
}

/// Expects that JSON pointers find values in the body of an answer, or nothing where there is `nil`.
func expectMembers(
    _ members: [String: String?],
    in answer: CurlAnswer,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    for (pointer, value) in members {
        #expect(answer.value(pointer) == value, "\(pointer) in \(answer.body)", sourceLocation: sourceLocation)
    }
}
