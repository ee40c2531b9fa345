// SPDX-License-Identifier: Apache-2.0
import Configuration
import ServiceRuntime

/// Names of client libraries as labels of metrics.
///
/// Apps choose the names, so their number is limited.
final class ClientLabels: Sendable {
    /// How many names have a label of their own; later ones share one.
    static let most = 64

    /// The name that no app may use has its label from the start.
    private let known = Guarded<Set<String>>([CallerID.retention.text])

    /// The name itself, `unknown` without one, or `other`.
    func label(of name: String?) -> String {
        guard let name else { return "unknown" }
        return known.withLock { known in
            if known.contains(name) { return name }
            guard known.count <= Self.most else { return "other" }
            known.insert(name)
            return name
        }
    }
}
