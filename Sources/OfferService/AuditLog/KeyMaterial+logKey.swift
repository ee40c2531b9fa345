// SPDX-License-Identifier: Apache-2.0
package import Configuration
import OfferDomain
package import TransparencyLog

extension KeyMaterial {
    /// Signs the audit log's checkpoints; made anew each time.
    package var logKey: LogKey { LogKey(origin: log.origin, privateKey: log.privateKey) }
}
