// SPDX-License-Identifier: Apache-2.0
import CLibEvent

/// Puts a ``Response`` into the form that goes over the wire: through evhttp, or by itself where evhttp is left out.
enum ResponseWriter {
    /// Fills evhttp's answer.
    ///
    /// Its length, date and connection fields are the server's own business.
    ///
    /// - Returns: Whether the connection closes after it.
    static func write(
        _ response: Response,
        to request: UnsafeMutablePointer<evhttp_request>,
        answersHead: Bool,
        closes: Bool
    ) -> Bool {
        let fields = unsafe evhttp_request_get_output_headers(request)
        var closes = closes
        for (name, value) in response.headers {
            switch role(of: name, value) {
            case .plain:
                // A string that is passed as it is would be copied first.
                unsafe name.withCString { name in
                    unsafe value.withCString { value in _ = unsafe evhttp_add_header(fields, name, value) }
                }
            case .close: closes = true
            case .omitted: break
            }
        }
        // Both of the server's ways of closing; evhttp looks for the field and closes when the answer is out.
        if closes { unsafe evhttp_add_header(fields, "Connection", "close") }
        let status = Int(status(of: response))
        guard status == response.status, mayHaveBody(status) else { return closes }
        if answersHead {
            unsafe evhttp_add_header(fields, "Content-Length", String(response.body.count))
        } else if !response.body.isEmpty {
            unsafe evbuffer_add(evhttp_request_get_output_buffer(request), response.body, response.body.count)
        }
        return closes
    }

    /// The response's status, or 500 if it is none that a response may have.
    static func status(of response: Response) -> Int32 {
        (200...599).contains(response.status) ? Int32(response.status) : 500
    }

    /// A whole response that announces the end of the connection.
    static func closingMessage(_ response: Response, answersHead: Bool) -> [UInt8] {
        var head = "HTTP/1.1 \(response.status) \(phrase(for: response.status) ?? "")\r\n"
        for (name, value) in response.headers where role(of: name, value) == .plain {
            head += "\(name): \(value)\r\n"
        }
        head += "Date: \(date())\r\nContent-Length: \(response.body.count)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + (answersHead ? [] : response.body)
    }

    private enum Role {
        case plain, close, omitted
    }

    private static func role(of name: String, _ value: String) -> Role {
        guard name.utf8.allSatisfy(ASCII.isToken), !name.isEmpty, value.utf8.allSatisfy(ASCII.isFieldValue) else {
            return .omitted
        }
        switch name.utf8.count {
        case 4 where name.lowercased() == "date": return .omitted
        case 10 where name.lowercased() == "connection": return value.lowercased() == "close" ? .close : .omitted
        case 14 where name.lowercased() == "content-length": return .omitted
        case 17 where name.lowercased() == "transfer-encoding": return .omitted
        default: return .plain
        }
    }

    private static func mayHaveBody(_ status: Int) -> Bool { status != 204 && status != 304 }

    /// Now, as RFC 9110, section 5.6.7 writes it.
    private static func date() -> String {
        var text = [CChar](repeating: 0, count: 50)
        let count = unsafe evutil_date_rfc1123(&text, text.count, nil)
        return String(decoding: text.prefix(max(0, Int(count))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The reason phrase of RFC 9110 for a status; nil leaves it to evhttp, which knows the older ones.
    static func phrase(for status: Int) -> String? {
        switch status {
        case 400: "Bad Request"
        case 408: "Request Timeout"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 417: "Expectation Failed"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        case 415: "Unsupported Media Type"
        case 422: "Unprocessable Content"
        default: nil
        }
    }
}
