// SPDX-License-Identifier: Apache-2.0
import CCurl

/// libcurl's state for the whole process.
enum CurlLibrary {
    /// Prepares libcurl once, however many ask.
    ///
    /// It initialises OpenSSL too, so it must not come before `SecureMemory.start`, which gives OpenSSL its wiping allocator
    /// and has to be OpenSSL's first use. That is why nothing calls it before the first ``Client`` is made.
    static func start() throws(ClientError) {
        guard outcome == CURLE_OK else { throw .library(code: Int(outcome.rawValue), "libcurl could not be prepared") }
    }

    private static let outcome = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    /// libcurl's words for a code.
    static func text(_ code: CURLcode) -> String {
        guard let text = unsafe curl_easy_strerror(code) else { return "code \(code.rawValue)" }
        return unsafe String(cString: text)
    }
}
