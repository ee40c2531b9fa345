// SPDX-License-Identifier: Apache-2.0

// Feeds the scanner of requests whatever libFuzzer makes up, and checks what must hold for any bytes at all: no crash, the
// same requests and the same refusal however the bytes are cut, and what is let through is as narrow as promised.
//
// Built and run by `Tests/Fuzzing/fuzz-http SECONDS`, from the sources of the target HTTP that it needs and this file.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    // The first byte says how the others are cut.
    let stream = Array(UnsafeBufferPointer(start: start + 1, count: count - 1))
    let whole = read(stream, pieceBytes: stream.count)
    guard read(stream, pieceBytes: Int(start[0] % 16) + 1) == whole else { fatalError("depends on how bytes are cut") }
    for case .request(let path, let query, let body) in whole { check(path, query, body) }
    return 0
}

private enum Found: Equatable {
    case request(path: [UInt8], query: [UInt8]?, body: [UInt8])
    case refusal(Rejection)
}

private let limits = Limits(headBytes: 300, fields: 5, bodyBytes: 40)

private func read(_ stream: [UInt8], pieceBytes: Int) -> [Found] {
    var scanner = RequestHeadScanner(limits: limits)
    var found: [Found] = []
    var position = 0
    while position < stream.count {
        let end = min(stream.count, position + pieceBytes)
        switch scanner.scan(stream.span.extracting(position..<end)) {
        case .incomplete:
            position = end
        case .complete(let consumed):
            guard 1...(end - position) ~= consumed else { fatalError("a request ends where it cannot") }
            position += consumed
            let request = scanner.takeRequest(from: ConnectionClient(peer: .loopback))
            guard request.headers.count(of: "host") == 1 else { fatalError("not one host") }
            guard request.headers.count(of: "transfer-encoding") == 0 else { fatalError("a transfer coding") }
            guard request.headers.count(of: "content-length") <= 1 else { fatalError("two lengths") }
            guard request.headers.count <= limits.fields else { fatalError("too many fields") }
            found.append(.request(path: request.path, query: request.query, body: request.body))
        case .refused(let rejection):
            return found + [.refusal(rejection)]
        }
    }
    return found
}

private func check(_ path: [UInt8], _ query: [UInt8]?, _ body: [UInt8]) {
    guard path.first == UInt8(ascii: "/"), path.dropFirst().first != UInt8(ascii: "/") else { fatalError("no path") }
    guard (path + (query ?? [])).allSatisfy({ 0x21...0x7E ~= $0 }) else { fatalError("not plain ASCII") }
    guard body.count <= limits.bodyBytes else { fatalError("too large a body") }
}
