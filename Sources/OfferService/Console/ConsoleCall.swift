// SPDX-License-Identifier: Apache-2.0
import HTTP

/// `GET /console/…`: the page for auditors, and the files that it is made of.
///
/// The files are public, so they need no API key. The page asks the auditor for a key, and makes the auditor's calls
/// with it.
struct ConsoleCall: Sendable {
    private static let files = Dictionary(
        uniqueKeysWithValues: ConsoleFile.all.map { (Array($0.utf8)[...], $1) }
    )

    /// Redirects a request without the last slash to the page.
    ///
    /// Relative, so that it is right behind a proxy that puts the service below a path of its own.
    static let redirect = Response(status: 308, headers: [("Location", "console/")] + protection)

    /// A file by its name; the empty one is the page.
    func respond(to request: Request, file name: ArraySlice<UInt8>) throws(Refusal) -> Response {
        guard let file = Self.files[name] else { throw .request(.noSuchPath) }
        let validators: [(name: String, value: String)] = [("ETag", file.entityTag), ("Cache-Control", "no-cache")]
        guard !request.headers.holds(entityTag: file.entityTag) else {
            return Response(status: 304, headers: validators + Self.protection)
        }
        return Response(
            status: 200,
            headers: [("Content-Type", file.contentType)] + validators + Self.protection,
            body: file.bytes
        )
    }

    /// What the browser is to refuse the page: everything but its own files, calls to its own origin, and elements.
    ///
    /// Sources: CSP Level 3, Trusted Types, Fetch (`Cross-Origin-Resource-Policy`), HTML (opener and embedder policy).
    static let protection: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
                + "trusted-types 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Embedder-Policy", "require-corp"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ]
}

extension HeaderFields {
    /// Whether the client says that it has what bears that tag (RFC 9110, section 13.1.2).
    ///
    /// `W/` before a tag counts for nothing here: the comparison is the weak one.
    fileprivate func holds(entityTag: String) -> Bool {
        guard let value = only("If-None-Match") else { return false }
        return value.split(separator: UInt8(ascii: ",")).contains { item in
            let item = item.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            return item.elementsEqual("*".utf8) || item.elementsEqual(entityTag.utf8)
                || item.elementsEqual("W/\(entityTag)".utf8)
        }
    }
}
