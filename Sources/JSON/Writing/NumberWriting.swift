// SPDX-License-Identifier: Apache-2.0

/// Appends a finite number as ECMAScript's `Number::toString` writes it, which RFC 8785 section 3.2.2.3 demands.
///
/// Swift's own description has the same, shortest, digits; only their layout differs.
func appendShortest(_ value: Double, to bytes: inout [UInt8]) {
    if value < 0 { bytes.append(.minus) }
    let (digits, exponent) = shortestDigits(of: value.magnitude)
    switch exponent {
    case digits.count...21:
        bytes.append(contentsOf: digits)
        bytes.append(contentsOf: repeatElement(.zero, count: exponent - digits.count))
    case 1..<max(1, digits.count):
        bytes.append(contentsOf: digits[..<exponent])
        bytes.append(.point)
        bytes.append(contentsOf: digits[exponent...])
    case -5...0:
        bytes.append(contentsOf: [.zero, .point])
        bytes.append(contentsOf: repeatElement(.zero, count: -exponent))
        bytes.append(contentsOf: digits)
    default:
        appendScientific(digits, exponent: exponent - 1, to: &bytes)
    }
}

private func appendScientific(_ digits: [UInt8], exponent: Int, to bytes: inout [UInt8]) {
    bytes.append(digits[0])
    if digits.count > 1 {
        bytes.append(.point)
        bytes.append(contentsOf: digits[1...])
    }
    bytes.append(UInt8(ascii: "e"))
    bytes.append(exponent < 0 ? .minus : .plus)
    bytes.append(contentsOf: String(abs(exponent)).utf8)
}

/// The digits d₁d₂…dₖ and the exponent n for which the value is 0.d₁d₂…dₖ × 10ⁿ, as ECMAScript's k and n.
private func shortestDigits(of value: Double) -> (digits: [UInt8], exponent: Int) {
    guard value != 0 else { return ([.zero], 1) }
    let parts = Array(value.description.utf8).split(separator: UInt8(ascii: "e"))
    let mantissa = parts[0]
    var exponent = parts.count > 1 ? Int(String(decoding: parts[1], as: UTF8.self)) ?? 0 : 0
    exponent += (mantissa.firstIndex(of: .point) ?? mantissa.endIndex) - mantissa.startIndex
    let digits = mantissa.filter { $0 != .point }
    let significant = digits.drop { $0 == .zero }
    exponent -= significant.startIndex - digits.startIndex
    let trailing = significant.reversed().prefix { $0 == .zero }.count
    return (Array(significant.dropLast(trailing)), exponent)
}
