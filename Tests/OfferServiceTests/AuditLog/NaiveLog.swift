// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import OfferService
import Synchronization
import TransparencyLog

/// A log in memory that computes its hashes from all entries each time, as RFC 6962 defines them.
///
/// `newest` is what it says its head is; tests make it say something else.
final class NaiveLog: LogHeads {
    private struct State {
        var entries: [[UInt8]] = []
        var claimed: TreeHead?
        var isUnreadable = false
        var isHeadUnknown = false
    }

    private let state: Mutex<State>

    init(_ count: Int = 0, _ name: String = "entry") {
        state = Mutex(State())
        grow(to: count, name)
    }

    func grow(to count: Int, _ name: String = "entry") {
        state.withLock { state in
            for index in state.entries.count..<max(count, state.entries.count) {
                state.entries.append(Array("\(name) \(index)".utf8))
            }
            state.claimed = nil
        }
    }

    func cut(to count: Int) { state.withLock { $0.entries = Array($0.entries.prefix(count)) } }

    func change(_ index: Int) { state.withLock { $0.entries[index].append(0) } }

    func claim(_ head: TreeHead) { state.withLock { $0.claimed = head } }

    func setUnreadable(_ isUnreadable: Bool) { state.withLock { $0.isUnreadable = isUnreadable } }

    var entries: [[UInt8]] { state.withLock { $0.entries } }

    func setHeadUnknown(_ isUnknown: Bool) { state.withLock { $0.isHeadUnknown = isUnknown } }

    var newest: TreeHead? {
        let (claimed, entries, isUnknown) = state.withLock { ($0.claimed, $0.entries, $0.isHeadUnknown) }
        if isUnknown { return nil }
        return claimed ?? TreeHead(size: Int64(entries.count), rootHash: Self.hash(entries[...]))
    }

    func rootHash(ofSize size: Int64) throws(AuditReadError) -> SHA256Digest {
        let entries = try readable()
        guard size <= entries.count else { throw .noSuchTree(size: size) }
        return Self.hash(entries.prefix(Int(size)))
    }

    func consistencyProof(from: Int64, to: Int64) throws(AuditReadError) -> [SHA256Digest] {
        Self.proof(Int(from), try readable().prefix(Int(to)), true)
    }

    private func readable() throws(AuditReadError) -> [[UInt8]] {
        let (isUnreadable, entries) = state.withLock { ($0.isUnreadable, $0.entries) }
        if isUnreadable { throw .database(Faults.diskFull) }
        return entries
    }

    /// RFC 6962 section 2.1.
    static func hash(_ entries: ArraySlice<[UInt8]>) -> SHA256Digest {
        if entries.isEmpty { return SHA256.digest(of: []) }
        if entries.count == 1 { return SHA256.digest(of: [0] + entries[entries.startIndex]) }
        let split = entries.startIndex + half(entries.count)
        return SHA256.digest(of: [1] + hash(entries[..<split]).bytes + hash(entries[split...]).bytes)
    }

    /// RFC 6962 section 2.1.2.
    private static func proof(_ size: Int, _ entries: ArraySlice<[UInt8]>, _ isWhole: Bool) -> [SHA256Digest] {
        if size == 0 || size == entries.count { return isWhole || size == 0 ? [] : [hash(entries)] }
        let half = half(entries.count)
        let split = entries.startIndex + half
        return size <= half
            ? proof(size, entries[..<split], isWhole) + [hash(entries[split...])]
            : proof(size - half, entries[split...], false) + [hash(entries[..<split])]
    }

    /// The largest power of two that is smaller.
    private static func half(_ count: Int) -> Int {
        var half = 1
        while half * 2 < count { half *= 2 }
        return half
    }
}

/// A key of a log, made for the test.
func makeLogKey(_ origin: String = "example.com/log") throws -> LogKey {
    try startSecureMemory()
    guard let origin = LogOrigin(origin) else { throw Unmade(description: origin) }
    return LogKey(origin: origin, privateKey: try Ed25519PrivateKey.generate())
}

struct Unmade: Error, CustomStringConvertible {
    let description: String
}
