// SPDX-License-Identifier: Apache-2.0
import HTTP

/// The page of a sign-in that failed.
enum SignInPage {
    /// Text alone: what a provider said becomes no markup.
    static func response(_ fault: SignInFault) -> Response {
        let paragraphs = fault.advice.map { "<p>\(escaped($0))</p>" }.joined(separator: "\n")
        let page = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(escaped(fault.title)) – offer-signer console</title>
            <link rel="icon" href="icon.svg">
            <link rel="stylesheet" href="console.css">
            </head>
            <body>
            <header><p class="brand">offer-signer <span>console</span></p></header>
            <main>
            <h1>\(escaped(fault.title))</h1>
            \(paragraphs)
            <p><a href="./">Back to the console</a></p>
            </main>
            </body>
            </html>

            """
        var headers: [(name: String, value: String)] = [
            ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store"),
        ]
        if case .tooOften(let seconds) = fault { headers.append(("Retry-After", String(seconds))) }
        return Response(status: fault.status, headers: headers + ConsoleCall.protection, body: Array(page.utf8))
    }

    private static func escaped(_ text: String) -> String {
        // By scalars: a character with an accent on it would not be equal to one of these.
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
