// SPDX-License-Identifier: Apache-2.0
import HTTP
import ServiceRuntime

/// `GET /problems/NAME`: what a problem means and what to do about it, out of docs/problems.md.
///
/// So the `type` of a problem, resolved against the service, leads to its explanation (RFC 9457 section 3.1.1).
enum ProblemPages {
    /// The problem of that name; without a name, every problem.
    static func response(for name: ArraySlice<UInt8>?) throws(Refusal) -> Response {
        guard let name else { return text(whole) }
        guard let page = pages[String(decoding: name, as: UTF8.self)] else { throw .request(.noSuchPath) }
        return text(page)
    }

    private static let whole = EmbeddedFile.bytes(of: "problems.md")

    /// Markdown is shown by browsers as plain text, and saved as a file under its own type.
    private static func text(_ body: [UInt8]) -> Response {
        Response(
            status: 200,
            headers: [
                ("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff"),
                ("Cache-Control", "public, max-age=3600"),
            ],
            body: body
        )
    }

    /// Each section by its heading.
    private static let pages: [String: [UInt8]] = {
        var pages: [String: [UInt8]] = [:]
        var (name, lines): (String?, [Substring]) = (nil, [])
        func finish() {
            guard let name else { return }
            pages[name] = Array(lines.joined(separator: "\n").utf8) + [0x0A]
        }
        for line in String(decoding: whole, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("## ") {
                finish()
                (name, lines) = (String(line.dropFirst(3)), ["# " + line.dropFirst(3)])
            } else {
                lines.append(line)
            }
        }
        finish()
        return pages
    }()
}
