// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import Ledger
import ServiceRuntime

extension Service {
    /// Reloads keys, offers, callers and the TLS certificate: all of them come into force, or none.
    ///
    /// Other instances that share the database reload too. Blocks the thread, which must not be one of Swift's shared
    /// pool, until the files are in force here and earlier reloads are done.
    package func reload() {
        if reloading.run() { membership?.requestReloadOfOthers() }
    }

    /// Only ``reloading`` may call it, which allows one reload at a time.
    func readAnew() -> Bool {
        do {
            let loaded = try LoadedConfiguration(settings)
            try server.reloadTLS { try configuration.adopt(loaded) }
            // The same files, which were valid a moment ago; if they are not now, the old certificate stays.
            if settings.tls != nil { try? adminServer?.reloadTLS() }
            membership?.note(policyName: loaded.catalog.policyName, keysDigest: loaded.keys.digest.hex)
            metrics.count(.reloads(succeeded: true))
            health.noteReload(refusedFor: nil)
            log(.info, "configuration reloaded", with: ["policy": .text(loaded.catalog.policyName)])
            logWhatIsNotReady(current.value)
            return true
        } catch {
            metrics.count(.reloads(succeeded: false))
            refuseReload(error)
            return false
        }
    }

    private func refuseReload(_ error: any Error) {
        let issues: [ConfigurationIssue]
        switch error {
        case let error as ConfigurationError: issues = error.issues
        case ServiceError.configuration(let error): issues = error.issues
        default: issues = []
        }
        for issue in issues { log(.error, "configuration", with: ["issue": .text("\(issue)")]) }
        if issues.isEmpty { log(.error, "configuration", with: ["issue": .text("\(error)")]) }
        log(.error, "reload refused; what was in force stays in force")
        let parts = issues.isEmpty ? [ConfigurationPart(error)] : settings.parts(of: issues)
        health.noteReload(refusedFor: parts)
        try? committer.appendBlocking([.configurationRefused(issues: max(1, issues.count), parts: parts)])
    }
}
