// SPDX-License-Identifier: Apache-2.0
package import Configuration
import OfferDomain
package import TransparencyLog

extension KeyMaterial {
    /// The key that signs the audit log's checkpoints, with the log's name.
    package var logKey: LogKey { LogKey(origin: log.origin, privateKey: log.privateKey) }
}
