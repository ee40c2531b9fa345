// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import Ledger
import Storage

extension ConfigurationPart {
    /// What an error of a reload is of, where it names no issue of a file.
    init(_ error: any Error) {
        self =
            switch error {
            case is StorageError, is LedgerError, ServiceError.records, ServiceError.database: .database
            case is ServerError: .tls
            default: .other
            }
    }
}

extension Settings {
    /// What the issues are of, each part once and in the order of the list above.
    func parts(of issues: [ConfigurationIssue]) -> [ConfigurationPart] {
        let found = Set(issues.filter { $0.severity == .error }.map(part))
        return ConfigurationPart.allCases.filter(found.contains)
    }

    private func part(of issue: ConfigurationIssue) -> ConfigurationPart {
        func isOf(_ path: String) -> Bool { issue.place == path || issue.place.hasPrefix("\(path):") }
        if isOf(keysPath) { return issue.pointer.hasPrefix("/customerIds") ? .customerIDs : .keys }
        if isOf(offersPath) { return .offers }
        if let eventsPath, isOf(eventsPath) { return .events }
        if let tls, isOf(tls.certificateChainFile) || isOf(tls.privateKeyFile) { return .tls }
        return .other
    }
}
