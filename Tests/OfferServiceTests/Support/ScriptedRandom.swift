// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Synchronization

/// Gives one number after another, each as different from the last as a test needs it.
final class ScriptedRandom: RandomSource {
    private let drawn = Mutex<UInt64>(0)

    func next() -> UInt64 {
        Self.word(
            drawn.withLock { drawn in
                defer { drawn += 1 }
                return drawn
            }
        )
    }

    private static func word(_ index: UInt64) -> UInt64 { (index + 1) &* 0x9E37_79B9_7F4A_7C15 }

    /// The UUIDs that the words from these places on give, as text.
    func version4(at places: [UInt64]) -> Set<String?> {
        Set(places.map { UniqueID.version4(Self.word($0), Self.word($0 + 1)).description })
    }
}
