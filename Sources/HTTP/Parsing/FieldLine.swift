// SPDX-License-Identifier: Apache-2.0

extension RequestHeadScanner {
    /// Reads `field-name ":" OWS field-value OWS` (RFC 9112, section 5).
    mutating func readField(_ line: Range<Int>) -> Rejection? {
        guard !ASCII.isWhiteSpace(head[line.lowerBound]) else { return .malformed(.foldedLine) }
        guard fields.count < limits.fields else { return .tooManyFields(limit: limits.fields) }
        let nameEnd = end(of: line, where: ASCII.isToken)
        guard nameEnd > line.lowerBound, nameEnd < line.upperBound, head[nameEnd] == ASCII.colon else {
            return .malformed(.fieldName)
        }
        guard ASCII.areFieldValue(head.span.extracting(nameEnd + 1..<line.upperBound)) else {
            return .malformed(.fieldValue)
        }
        let valueStart = end(of: nameEnd + 1..<line.upperBound, where: ASCII.isWhiteSpace)
        var valueEnd = line.upperBound
        while valueEnd > valueStart, ASCII.isWhiteSpace(head[valueEnd - 1]) { valueEnd -= 1 }

        if fields.isEmpty { fields.reserveCapacity(16) }
        fields.append(
            HeaderFields.Field(
                nameStart: UInt32(line.lowerBound),
                nameEnd: UInt32(nameEnd),
                valueStart: UInt32(valueStart),
                valueEnd: UInt32(valueEnd)
            )
        )
        return judge(line.lowerBound..<nameEnd, valueStart..<valueEnd)
    }

    /// Checks the few fields that say how to read the request.
    private mutating func judge(_ name: Range<Int>, _ value: Range<Int>) -> Rejection? {
        switch name.count {
        case 4 where isNamed(name, "host"):
            hosts += 1
            let isValid = !value.isEmpty && end(of: value, where: ASCII.isHost) == value.upperBound
            return hosts == 1 && isValid ? nil : .malformed(.host)
        case 6 where isNamed(name, "expect"):
            expectsToBeAsked = isNamed(value, "100-continue")
            return expectsToBeAsked ? nil : .expectationFailed
        case 10 where isNamed(name, "connection"):
            asksToClose = asksToClose || lists(value, "close")
        case 14 where isNamed(name, "content-length"):
            return readContentLength(value)
        case 17 where isNamed(name, "transfer-encoding"):
            hasTransferEncoding = true
        default:
            break
        }
        return nil
    }

    /// Reads `1*DIGIT`.
    ///
    /// A number too large to hold is as good as the largest: it is beyond any limit.
    private mutating func readContentLength(_ value: Range<Int>) -> Rejection? {
        guard contentLength == nil, !value.isEmpty, end(of: value, where: ASCII.isDigit) == value.upperBound else {
            return .malformed(.contentLength)
        }
        contentLength = value.reduce(into: 0) { length, index in
            let (tens, tooLarge) = length.multipliedReportingOverflow(by: 10)
            let (sum, tooLargeStill) = tens.addingReportingOverflow(Int(head[index] &- 0x30))
            length = tooLarge || tooLargeStill ? Int.max : sum
        }
        return nil
    }

    /// Whether a list of tokens separated by commas holds that one.
    private func lists(_ value: Range<Int>, _ token: StaticString) -> Bool {
        head[value].split(separator: UInt8(ascii: ",")).contains { item in
            let start = end(of: item.startIndex..<item.endIndex, where: ASCII.isWhiteSpace)
            return isNamed(start..<end(of: start..<item.endIndex, where: ASCII.isToken), token)
        }
    }

    private func isNamed(_ range: Range<Int>, _ name: StaticString) -> Bool {
        ASCII.equalsIgnoringCase(head.span.extracting(range), name)
    }
}
