// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// What AddressSanitizer's leak checker must know about OpenSSL's secure heap.
package enum KeyLeakChecker {
    private static let isRegistered = Mutex(false)

    /// Has the checker look for pointers in the secure heap, which it passes over by itself.
    ///
    /// OpenSSL keeps its random generators there, and they point to ordinary memory, which would be taken for lost. To be
    /// called after the secure heap was made; does nothing without the checker.
    package static func lookInsideSecureHeap() {
        typealias Register = @convention(c) (UnsafeRawPointer?, Int) -> Void
        guard let symbol = unsafe dlsym(dlopen(nil, RTLD_NOW), "__lsan_register_root_region") else { return }
        let register = unsafe unsafeBitCast(symbol, to: Register.self)
        isRegistered.withLock { isRegistered in
            guard !isRegistered else { return }
            isRegistered = true
            for mapping in guardedMappings() {
                unsafe register(UnsafeRawPointer(bitPattern: mapping.lowerBound), mapping.count)
            }
        }
    }

    /// The small mappings with an inaccessible page on either side, which is how OpenSSL lays its heap out.
    private static func guardedMappings() -> [Range<UInt>] {
        guard let text = try? TemporaryDirectory.read("/proc/self/maps") else { return [] }
        let mappings = String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            let bounds = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            return bounds.count == 2 ? (range: bounds[0]..<bounds[1], access: words[1]) : nil
        }
        return mappings.indices.dropFirst().dropLast().compactMap { index in
            let (before, mapping, after) = (mappings[index - 1], mappings[index], mappings[index + 1])
            let isGuarded =
                before.access.hasPrefix("---") && before.range.upperBound == mapping.range.lowerBound
                && after.access.hasPrefix("---") && after.range.lowerBound == mapping.range.upperBound
            let isSmall = mapping.access.hasPrefix("rw") && mapping.range.count < 1 << 24
            return isGuarded && isSmall ? mapping.range : nil
        }
    }
}
