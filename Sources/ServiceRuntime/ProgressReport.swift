// SPDX-License-Identifier: Apache-2.0

/// Called with how much is done, and with the total if it is known.
package typealias ProgressReport = (_ done: Int64, _ total: Int64?) -> Void
