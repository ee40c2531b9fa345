// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Bytes to look for, kept in a disguise, so that a search of the memory does not find the search itself.
struct DisguisedBytes: Codable, Sendable {
    private let bytes: [UInt8]
    private static let mask: UInt8 = 0xA5

    init(disguising bytes: [UInt8]) {
        self.bytes = bytes.map { $0 ^ Self.mask }
    }

    var count: Int { bytes.count }
    var first: UInt8 { bytes[0] ^ Self.mask }

    func matches(_ found: UnsafeRawBufferPointer) -> Bool {
        found.count >= bytes.count && bytes.indices.allSatisfy { unsafe found[$0] ^ Self.mask == bytes[$0] }
    }
}

/// A search through all of this process's memory.
@safe
struct MemoryScan: ~Copyable {
    private static let windowByteCount = 1 << 20
    private let memory: Int32
    private let window: UnsafeMutableRawPointer

    init?() {
        memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        let start = unsafe mmap(
            nil,
            Self.windowByteCount,
            PROT_READ | PROT_WRITE,
            MAP_PRIVATE | Int32(MAP_ANONYMOUS),
            -1,
            0
        )
        guard memory >= 0, let start = unsafe start, unsafe start != MAP_FAILED else { return nil }
        unsafe window = start
    }

    deinit {
        close(memory)
        unsafe munmap(window, Self.windowByteCount)
    }

    /// How often the bytes stand in memory, outside the window that the search reads through.
    func count(of needle: DisguisedBytes) -> Int {
        let windowStart = unsafe UInt(bitPattern: window)
        let windowRange = windowStart..<windowStart + UInt(Self.windowByteCount)
        var count = 0
        for mapping in Self.readableMappings() {
            for part in [
                mapping.clamped(to: 0..<windowRange.lowerBound), mapping.clamped(to: windowRange.upperBound..<UInt.max),
            ] {
                count += self.count(of: needle, in: part)
            }
        }
        // What was read through the window is not to be found by the next search, in a window elsewhere.
        _ = unsafe memset(window, 0, Self.windowByteCount)
        return count
    }

    private func count(of needle: DisguisedBytes, in range: Range<UInt>) -> Int {
        var count = 0
        var next = range.lowerBound
        while next < range.upperBound {
            let wanted = min(Self.windowByteCount, Int(range.upperBound - next))
            let read = unsafe pread(memory, window, wanted, off_t(next))
            // Guard pages can't be read.
            guard read > 0 else { break }
            count += unsafe self.count(of: needle, in: UnsafeRawBufferPointer(start: window, count: read))
            guard read > needle.count, next + UInt(read) < range.upperBound else { break }
            next += UInt(read - needle.count + 1)
        }
        return count
    }

    private func count(of needle: DisguisedBytes, in bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        var offset = 0
        while offset + needle.count <= bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
            guard
                let start = rest.baseAddress,
                let found = unsafe memchr(start, Int32(needle.first), rest.count)
            else { break }
            offset += unsafe UnsafeRawPointer(found) - start
            if unsafe needle.matches(UnsafeRawBufferPointer(rebasing: bytes[offset...])) { count += 1 }
            offset += 1
        }
        return count
    }

    private static func readableMappings() -> [Range<UInt>] {
        text(of: "/proc/self/maps").split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard fields[1].hasPrefix("r"), bounds.count == 2, bounds[1] < 1 << 48 else { return nil }
            return bounds[0]..<bounds[1]
        }
    }

    private static func text(of path: String) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var text: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while case let count = unsafe read(file, &block, block.count), count > 0 { text += block[..<count] }
        return String(decoding: text, as: UTF8.self)
    }
}

/// How often a key is in memory, by the form it has there.
struct KeyCopies: Hashable, CustomStringConvertible {
    /// The private number as DER has it.
    var bigEndian = 0
    /// The private number as OpenSSL computes with it.
    var littleEndian = 0
    /// A line of its PEM text.
    var text = 0

    var description: String { "big-endian \(bigEndian), little-endian \(littleEndian), text \(text)" }
}

/// What to look for when looking for a key.
struct KeyNeedles: Codable, Sendable {
    let bigEndian: DisguisedBytes
    let littleEndian: DisguisedBytes
    let text: DisguisedBytes

    init(scalar: [UInt8], line: [UInt8]) {
        bigEndian = DisguisedBytes(disguising: scalar)
        littleEndian = DisguisedBytes(disguising: scalar.reversed())
        text = DisguisedBytes(disguising: line)
    }

    func copies() -> KeyCopies? {
        guard let scan = MemoryScan() else { return nil }
        return KeyCopies(
            bigEndian: scan.count(of: bigEndian),
            littleEndian: scan.count(of: littleEndian),
            text: scan.count(of: text)
        )
    }
}
