// SPDX-License-Identifier: Apache-2.0

/// The few elements of DER that a public key is written in (X.690).
enum DERWriter {
    static func sequence(_ contents: [UInt8]) -> [UInt8] { element(0x30, contents) }

    /// A BIT STRING of whole bytes.
    static func bitString(_ contents: [UInt8]) -> [UInt8] { element(0x03, [0] + contents) }

    /// A positive INTEGER from a big-endian number without zeros in front.
    static func integer(_ number: [UInt8]) -> [UInt8] {
        // A first bit of 1 would make it negative.
        let sign: [UInt8] = number.first.map { $0 & 0x80 != 0 } == true ? [0] : []
        return element(0x02, sign + number)
    }

    private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = contents.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        let head = contents.count < 0x80 ? [UInt8(contents.count)] : [0x80 | UInt8(length.count)] + length
        return [tag] + head + contents
    }
}
