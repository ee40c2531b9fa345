// SPDX-License-Identifier: Apache-2.0

extension RequestHeadScanner {
    /// Reads `METHOD SP origin-form SP HTTP/1.1` (RFC 9112, section 3), or HTTP/1.0 at the few paths that admit it.
    mutating func readRequestLine(_ line: Range<Int>) -> Rejection? {
        let methodEnd = end(of: line.lowerBound..<line.upperBound, where: ASCII.isToken)
        guard methodEnd > line.lowerBound, methodEnd < line.upperBound, head[methodEnd] == ASCII.space else {
            return .malformed(.requestLine)
        }
        let targetStart = methodEnd + 1
        let targetEnd = end(of: targetStart..<line.upperBound) { $0 != ASCII.space }
        guard targetEnd > targetStart, targetEnd < line.upperBound else { return .malformed(.requestLine) }
        if let rejection = readVersion(targetEnd + 1..<line.upperBound) { return rejection }

        method = readMethod(line.lowerBound..<methodEnd)
        guard !isHTTP10 || admitsHTTP10(targetStart..<targetEnd) else { return .versionNotSupported }
        if case .other = method { return .methodNotImplemented }
        target = targetStart..<targetEnd
        pathEnd = end(of: target) { $0 != ASCII.questionMark }
        return judgeTarget()
    }

    /// Whether an HTTP/1.0 request is a health check as load balancers send it by default.
    private func admitsHTTP10(_ target: Range<Int>) -> Bool {
        (method == .get || method == .head) && limits.pathsForHTTP10.contains(Array(head[target]))
    }

    private mutating func readVersion(_ version: Range<Int>) -> Rejection? {
        // Nearly all of them; the rest may cost more.
        if isExactly(version, "HTTP/1.1") { return nil }
        let bytes = Array(head[version])
        guard bytes.count == 8, ASCII.isDigit(bytes[5]), bytes[6] == UInt8(ascii: "."), ASCII.isDigit(bytes[7]),
            isExactly(version.prefix(5), "HTTP/")
        else { return .malformed(.requestLine) }
        guard isExactly(version, "HTTP/1.0") else { return .versionNotSupported }
        isHTTP10 = true
        // Keeping the connection is an extension there.
        asksToClose = true
        return nil
    }

    private func readMethod(_ name: Range<Int>) -> Method {
        switch name.count {
        case 3 where isExactly(name, "GET"): .get
        case 4 where isExactly(name, "POST"): .post
        case 4 where isExactly(name, "HEAD"): .head
        case 3 where isExactly(name, "PUT"): .put
        case 6 where isExactly(name, "DELETE"): .delete
        case 7 where isExactly(name, "OPTIONS"): .options
        case 5 where isExactly(name, "PATCH"): .patch
        default: .other(String(decoding: head[name], as: UTF8.self))
        }
    }

    /// Two slashes at the start are refused: some readers take what follows for a host's name.
    private func judgeTarget() -> Rejection? {
        let bytes = head.span.extracting(target)
        guard bytes[0] == ASCII.slash, bytes.count == 1 || bytes[1] != ASCII.slash else { return .malformed(.target) }
        for index in bytes.indices {
            let byte = bytes[index]
            guard ASCII.isTarget(byte) else { return .malformed(.target) }
            guard byte == ASCII.percent else { continue }
            guard index + 2 < bytes.count, ASCII.isHexDigit(bytes[index + 1]), ASCII.isHexDigit(bytes[index + 2])
            else { return .malformed(.target) }
            let start = target.lowerBound + index
            if isExactly(start..<start + 3, "%00") { return .malformed(.encodedNull) }
        }
        return nil
    }

    /// The first position in `range` whose byte is not of the kind wanted, or its end.
    func end(of range: Range<Int>, where isWanted: (UInt8) -> Bool) -> Int {
        let bytes = head.span.extracting(range)
        for index in bytes.indices where !isWanted(bytes[index]) { return range.lowerBound + index }
        return range.upperBound
    }

    func isExactly(_ range: Range<Int>, _ text: StaticString) -> Bool {
        let bytes = head.span.extracting(range)
        guard bytes.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            for offset in bytes.indices where unsafe bytes[offset] != text[offset] { return false }
            return true
        }
    }
}
