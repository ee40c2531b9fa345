// SPDX-License-Identifier: Apache-2.0

/// Is told how much is done, and of how much, where that is known.
package typealias ProgressReport = (_ done: Int64, _ total: Int64?) -> Void
