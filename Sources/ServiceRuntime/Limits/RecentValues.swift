// SPDX-License-Identifier: Apache-2.0

/// A cache of limited size with two generations: when the younger is full, it replaces the older.
///
/// A value that is read moves to the younger generation, so values in use stay.
package struct RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let capacity: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    /// - Parameter capacity: The most values that are ever held.
    package init(capacity: Int) {
        self.capacity = max(2, capacity)
    }

    /// How many values are held.
    package var count: Int { young.count + old.count }

    /// The value for a key; `nil` if none is held.
    package subscript(key: Key) -> Value? {
        mutating get {
            if let value = young[key] { return value }
            guard let value = old.removeValue(forKey: key) else { return nil }
            insert(value, for: key)
            return value
        }
        set {
            old[key] = nil
            if let newValue { insert(newValue, for: key) } else { young[key] = nil }
        }
    }

    private mutating func insert(_ value: Value, for key: Key) {
        if young.count >= capacity / 2, young[key] == nil {
            old = young
            young = [:]
        }
        young[key] = value
    }
}
