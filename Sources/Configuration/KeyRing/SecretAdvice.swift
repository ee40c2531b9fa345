// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import ServiceRuntime

/// What a secret file is for, so that a message can say how to get one.
enum SecretUse {
    case appStoreKey, passphrase, serviceAccount, customerIDs, logKey, clientSecret
}

/// What helps where a secret file can't be used.
struct SecretAdvice {
    let use: SecretUse
    /// As the configuration writes it.
    let written: String
    /// Where it is looked for.
    let path: String

    /// The rest of a sentence, with what to do; empty where the error says it already.
    func text(for error: SecretFileError) -> String {
        switch error {
        case .cannotOpen(ENOENT):
            written.hasPrefix("~") ? " The ~ is not expanded here: write the path in full." : missing
        case .cannotOpen(EACCES): " Run the command as the user of the service."
        case .modeTooOpen: " Run: chmod 600 \(shellWord(path))"
        case .foreignOwner: " Run: chown \(geteuid()) \(shellWord(path))"
        case .empty, .notHexadecimal: making.map { " Move the file away, and make one: \($0)" } ?? ""
        default: ""
        }
    }

    private var missing: String {
        let place = " It was looked for at \(absolutePath(path))."
        if let making { return "\(place) Make it: \(making)" }
        let others = keysBeside
        if !others.isEmpty { return "\(place) That folder has \(others.joined(separator: ", "))." }
        switch use {
        case .appStoreKey:
            return "\(place) Put the .p8 file of App Store Connect there, with mode 0600; or run offer-signer init."
        case .serviceAccount: return "\(place) Put the JSON key file of Google Cloud there, with mode 0600."
        case .passphrase: return "\(place) Write the passphrase there, with mode 0600."
        case .clientSecret: return "\(place) Write the provider's client secret there, with mode 0600."
        case .customerIDs, .logKey: return place
        }
    }

    /// The command that makes such a file; `nil` of what only a store can make.
    private var making: String? {
        switch use {
        case .customerIDs: "(umask 077; openssl rand -hex 32 > \(shellWord(path)))"
        case .logKey: "(umask 077; openssl genpkey -algorithm ed25519 > \(shellWord(path)))"
        case .appStoreKey, .passphrase, .serviceAccount, .clientSecret: nil
        }
    }

    /// The files of the folder that may have been meant; their names alone.
    private var keysBeside: [String] {
        let ending = use == .appStoreKey ? ".p8" : use == .serviceAccount ? ".json" : nil
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard let ending, let directory = unsafe opendir(folder.isEmpty ? "/" : folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name.hasSuffix(ending) { names.append(name) }
        }
        return names.sorted().prefix(3).map(\.self)
    }
}
