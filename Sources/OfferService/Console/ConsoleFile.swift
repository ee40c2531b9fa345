// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// One file of the console, as it is built into the program.
struct ConsoleFile: Sendable {
    let contentType: String
    let bytes: [UInt8]
    /// A strong entity tag (RFC 9110, section 8.8.3), with its quotes: it changes if and only if the bytes do.
    let entityTag: String

    private init(_ contentType: String, _ bytes: [UInt8]) {
        self.contentType = contentType
        self.bytes = bytes
        entityTag = "\"\(SHA256.digest(of: bytes).hex.prefix(32))\""
    }

    private static func page(_ bytes: [UInt8]) -> ConsoleFile { ConsoleFile("text/html; charset=utf-8", bytes) }
    private static func style(_ bytes: [UInt8]) -> ConsoleFile { ConsoleFile("text/css; charset=utf-8", bytes) }
    private static func script(_ bytes: [UInt8]) -> ConsoleFile { ConsoleFile("text/javascript; charset=utf-8", bytes) }
    private static func image(_ bytes: [UInt8]) -> ConsoleFile { ConsoleFile("image/svg+xml", bytes) }

    /// All files by their paths below `/console/`; the page itself is the empty one.
    static let all: [String: ConsoleFile] = [
        "": page(PackageResources.index_html),
        "console.css": style(PackageResources.console_css),
        "icon.svg": image(PackageResources.icon_svg),
        "actions.js": script(PackageResources.actions_js),
        "chart.js": script(PackageResources.chart_js),
        "console.js": script(PackageResources.console_js),
        "elements.js": script(PackageResources.elements_js),
        "entries.js": script(PackageResources.entries_js),
        "entry.js": script(PackageResources.entry_js),
        "log.js": script(PackageResources.log_js),
        "lookup.js": script(PackageResources.lookup_js),
        "overview.js": script(PackageResources.overview_js),
        "panels.js": script(PackageResources.panels_js),
        "proof.js": script(PackageResources.proof_js),
        "reconciliation.js": script(PackageResources.reconciliation_js),
        "service.js": script(PackageResources.service_js),
        "times.js": script(PackageResources.times_js),
    ]
}
