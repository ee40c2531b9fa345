// SPDX-License-Identifier: Apache-2.0
import CCurl

/// One request on its way: its handle in libcurl, and what has come of the answer.
///
/// Lives on the client's thread alone; libcurl calls back into it while that thread is in `curl_multi_perform`.
@safe
final class Transfer {
    let order: Order
    let handle: EasyHandle
    private let maximumBodyBytes: Int
    private var head: ResponseHeadReader
    private var body: [UInt8] = []
    /// Why we ended it ourselves.
    private var refusal: ClientError?
    private let opener: SocketOpener

    /// Prepares the handle; `millisecondsLeft` are those until the order's deadline.
    init(_ order: Order, _ configuration: ClientConfiguration, millisecondsLeft: Int) throws(ClientError) {
        self.order = order
        opener = SocketOpener(configuration.addresses)
        handle = try EasyHandle()
        maximumBodyBytes = order.request.maximumResponseBytes ?? configuration.maximumResponseBytes
        head = ResponseHeadReader(
            limitBytes: configuration.maximumHeadBytes,
            admitsBody: order.request.method != .head
        )
        handle.configure(configuration, millisecondsLeft: millisecondsLeft)
        handle.address(order.request)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe handle.set(CURLOPT_HEADERFUNCTION, to: receiveHeaderLine, CURLOPT_HEADERDATA, to: context)
        unsafe handle.set(CURLOPT_WRITEFUNCTION, to: receiveBody, CURLOPT_WRITEDATA, to: context)
        opener.attach(to: handle)
        handle.setNumber(order.number)
        try handle.check()
    }

    /// What came of it, after libcurl said that it ended.
    func outcome(_ code: CURLcode) -> Result<ClientResponse, ClientError> {
        if let refusal { return .failure(refusal) }
        guard code == CURLE_OK else { return .failure(error(code)) }
        guard head.isComplete else { return .failure(.protocolViolation("there is no head")) }
        return .success(
            ClientResponse(status: head.status, headers: head.headers, body: body, version: head.version)
        )
    }

    /// How many connections were made for it.
    var connectionsOpened: Int { handle.long(CURLINFO_NUM_CONNECTS) }

    /// Whether no connection was tried for it yet.
    var isUntried: Bool {
        handle.size(CURLINFO_PRETRANSFER_TIME_T) == 0 && handle.size(CURLINFO_NAMELOOKUP_TIME_T) == 0
    }

    private func error(_ code: CURLcode) -> ClientError {
        if opener.hasRefusedAddress, code == CURLE_COULDNT_CONNECT { return .addressNotAllowed }
        guard code == CURLE_OPERATION_TIMEDOUT else { return ClientError(code, handle.explanation(of: code)) }
        // 0 until there is a connection, with TLS on it, that the request could be sent on.
        return handle.size(CURLINFO_PRETRANSFER_TIME_T) > 0 ? .timeout : .connectTimeout
    }

    /// Takes a line of a head; false ends the transfer.
    fileprivate func receive(headerLine line: Span<UInt8>) -> Bool {
        refusal = refusal ?? head.read(line)
        if refusal == nil, head.isComplete, !head.isCompressed, let length = head.contentLength {
            if head.admitsBody, length > maximumBodyBytes { refusal = .responseTooLarge(limitBytes: maximumBodyBytes) }
        }
        return refusal == nil
    }

    /// Takes a piece of the body, decompressed; false ends the transfer.
    fileprivate func receive(body piece: Span<UInt8>) -> Bool {
        guard refusal == nil, head.isComplete else { return false }
        guard piece.count <= maximumBodyBytes - body.count else {
            refusal = .responseTooLarge(limitBytes: maximumBodyBytes)
            return false
        }
        if body.isEmpty, !head.isCompressed, let length = head.contentLength { body.reserveCapacity(length) }
        unsafe piece.withUnsafeBufferPointer { unsafe body.append(contentsOf: $0) }
        return true
    }
}

/// Passes the bytes that libcurl received to the transfer; libcurl ends the transfer unless it takes them all.
private func pass(
    _ bytes: UnsafeMutablePointer<CChar>?,
    count: Int,
    context: UnsafeMutableRawPointer?,
    to take: (Transfer, Span<UInt8>) -> Bool
) -> Int {
    guard let context = unsafe context else { return Int(CURL_WRITEFUNC_ERROR) }
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
    let isTaken = unsafe buffer.withMemoryRebound(to: UInt8.self) { unsafe take(transfer, $0.span) }
    return isTaken ? count : Int(CURL_WRITEFUNC_ERROR)
}

private func receiveHeaderLine(
    bytes: UnsafeMutablePointer<CChar>?,
    size: Int,
    count: Int,
    context: UnsafeMutableRawPointer?
) -> Int {
    unsafe pass(bytes, count: size * count, context: context) { $0.receive(headerLine: $1) }
}

private func receiveBody(
    bytes: UnsafeMutablePointer<CChar>?,
    size: Int,
    count: Int,
    context: UnsafeMutableRawPointer?
) -> Int {
    unsafe pass(bytes, count: size * count, context: context) { $0.receive(body: $1) }
}
