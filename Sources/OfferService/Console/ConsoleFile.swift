// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ServiceRuntime

/// One file of the console, as it is built into the program.
struct ConsoleFile: Sendable {
    let contentType: String
    let bytes: [UInt8]
    /// A strong entity tag (RFC 9110, section 8.8.3), with its quotes: it changes if and only if the bytes do.
    let entityTag: String

    private init(_ contentType: String, _ name: String) {
        self.contentType = contentType
        bytes = EmbeddedFile.bytes(of: "console/\(name)")
        entityTag = "\"\(SHA256.digest(of: bytes).hex.prefix(32))\""
    }

    private static func page(_ name: String) -> ConsoleFile { ConsoleFile("text/html; charset=utf-8", name) }
    private static func style(_ name: String) -> ConsoleFile { ConsoleFile("text/css; charset=utf-8", name) }
    private static func script(_ name: String) -> ConsoleFile { ConsoleFile("text/javascript; charset=utf-8", name) }
    private static func image(_ name: String) -> ConsoleFile { ConsoleFile("image/svg+xml", name) }

    /// All files by their paths below `/console/`; the page itself is the empty one.
    static let all: [String: ConsoleFile] = [
        "": page("index.html"),
        "console.css": style("console.css"),
        "icon.svg": image("icon.svg"),
        "actions.js": script("actions.js"),
        "chart.js": script("chart.js"),
        "console.js": script("console.js"),
        "customers.js": script("customers.js"),
        "elements.js": script("elements.js"),
        "entries.js": script("entries.js"),
        "entry.js": script("entry.js"),
        "events.js": script("events.js"),
        "follow.js": script("follow.js"),
        "groups.js": script("groups.js"),
        "log.js": script("log.js"),
        "lookup.js": script("lookup.js"),
        "names.js": script("names.js"),
        "overview.js": script("overview.js"),
        "panels.js": script("panels.js"),
        "proof.js": script("proof.js"),
        "providers.js": script("providers.js"),
        "query.js": script("query.js"),
        "reconciliation.js": script("reconciliation.js"),
        "retention.js": script("retention.js"),
        "saved.js": script("saved.js"),
        "search.js": script("search.js"),
        "service.js": script("service.js"),
        "times.js": script("times.js"),
        "verdict.js": script("verdict.js"),
        "words.js": script("words.js"),
    ]
}
