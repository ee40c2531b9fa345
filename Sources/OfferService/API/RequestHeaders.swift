// SPDX-License-Identifier: Apache-2.0
import HTTP

extension Request {
    /// Demands `Content-Type: application/json`, in UTF-8 if it names a charset.
    func requireJSON() throws(Refusal) {
        guard let value = headers.only("Content-Type"), isJSON(value) else {
            throw .request(.unsupportedMediaType)
        }
    }

    /// The idempotency key, without the quotes that the header's draft standard puts around it.
    func idempotencyKey() throws(Refusal) -> [UInt8]? {
        let count = headers.count(of: "Idempotency-Key")
        guard count > 0 else { return nil }
        guard count == 1, var key = headers.first("Idempotency-Key") else {
            throw .request(.invalidIdempotencyKey)
        }
        if key.count >= 2, key.first == UInt8(ascii: "\""), key.last == UInt8(ascii: "\"") {
            key = Array(key.dropFirst().dropLast())
        }
        guard (1...255).contains(key.count), key.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") })
        else { throw .request(.invalidIdempotencyKey) }
        return key
    }
}

private func isJSON(_ value: ArraySlice<UInt8>) -> Bool {
    if value.count == 16, value.startsIgnoringCase(with: "application/json") { return true }
    let text = String(decoding: value, as: UTF8.self).lowercased().filter { $0 != " " && $0 != "\t" }
    return text == "application/json" || text == "application/json;charset=utf-8"
        || text == "application/json;charset=\"utf-8\""
}
