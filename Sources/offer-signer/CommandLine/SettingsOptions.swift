// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferService

/// Settings as options of a command.
enum SettingsOptions {
    static let names = Setting.allCases.map(\.flag)

    /// Settings from the options and the environment.
    static func settings(_ arguments: Arguments) throws(CommandError) -> Settings {
        var flags: [Setting: String] = [:]
        for setting in Setting.allCases {
            flags[setting] = try arguments.value(setting.flag)
        }
        do {
            return try Settings(flags: flags, environment: environment())
        } catch {
            throw CommandError(error)
        }
    }

    /// The list of settings for `--help`.
    static func help(_ settings: [Setting] = Setting.allCases) -> String {
        settings.map { setting in
            let standard = setting.defaultText.map { " (\($0))" } ?? ""
            let variable = "      \(setting.variable): \(setting.expected)"
            let isShort = variable.count <= 115
            return """
                  \(setting.flag) \(OptionValue.of(setting).placeholder)
                      \(setting.help)\(standard)
                \(isShort ? variable : "      \(setting.variable):\n        \(setting.expected)")
                """
        }.joined(separator: "\n")
    }
}

/// Prepares the process to hold keys: a command that reads or makes a key does this first.
enum KeyCustody {
    static func begin(admitsUnlockedMemory: Bool) throws(CommandError) {
        do throws(ProcessHardeningError) {
            try ProcessHardening.forbidCoreDumps()
        } catch {
            throw CommandError(error.description, .unavailable)
        }
        do throws(SecureMemoryError) {
            try SecureMemory.start(conceding: admitsUnlockedMemory ? [.unlockedPages] : [])
        } catch {
            throw CommandError(error.description, .unavailable)
        }
    }
}
