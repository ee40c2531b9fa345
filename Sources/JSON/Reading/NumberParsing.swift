// SPDX-License-Identifier: Apache-2.0

/// The value of a well-formed integer, in decimal or hexadecimal; nil where it does not fit.
func parsedInteger(_ text: ArraySlice<UInt8>) -> Int64? {
    let digits = text.drop { $0 == .minus || $0 == .plus }
    let isNegative = text.first == .minus
    let radix: Int64 = isHexadecimal(digits) ? 16 : 10
    var value: Int64 = 0
    for byte in radix == 16 ? digits.dropFirst(2) : digits {
        guard let digit = byte.hexadecimalValue else { return nil }
        let (shifted, hasOverflown) = value.multipliedReportingOverflow(by: radix)
        // Sums as a negative number, because the negative range is larger by one.
        let (sum, isTooLow) = shifted.subtractingReportingOverflow(Int64(digit))
        guard !hasOverflown, !isTooLow else { return nil }
        value = sum
    }
    if isNegative { return value }
    return value == .min ? nil : -value
}

/// The double nearest to a well-formed number; nil where it would be infinite.
func parsedDouble(_ text: ArraySlice<UInt8>) -> Double? {
    let unsigned = text.first == .plus ? text.dropFirst() : text
    let digits = unsigned.drop { $0 == .minus }
    let value: Double?
    if isHexadecimal(digits) {
        value = hexadecimalDouble(digits.dropFirst(2), isNegative: unsigned.first == .minus)
    } else {
        value = decimalDouble(unsigned)
    }
    return value.flatMap { $0.isFinite ? $0 : nil }
}

private func isHexadecimal(_ digits: ArraySlice<UInt8>) -> Bool {
    digits.count > 2 && digits[digits.startIndex + 1] | 0x20 == UInt8(ascii: "x")
}

/// Swift reads hexadecimal too, and rounds it once, as ECMAScript does.
private func hexadecimalDouble(_ digits: ArraySlice<UInt8>, isNegative: Bool) -> Double? {
    Double((isNegative ? "-0x" : "0x") + String(decoding: digits, as: UTF8.self))
}

private func decimalDouble(_ text: ArraySlice<UInt8>) -> Double? {
    Double(String(decoding: text, as: UTF8.self))
}
