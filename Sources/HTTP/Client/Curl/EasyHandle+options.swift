// SPDX-License-Identifier: Apache-2.0
import CCurl

extension EasyHandle {
    /// Sets what all requests have in common.
    ///
    /// What libcurl would otherwise take from outside is forbidden one by one: redirects, proxies and their exceptions from
    /// the environment, `.netrc`, other protocols. Cookies, HSTS and Alt-Svc are off unless asked for.
    func configure(_ configuration: ClientConfiguration, millisecondsLeft: Int) {
        set(CURLOPT_PROTOCOLS_STR, configuration.allowsPlainHTTP ? "https,http" : "https")
        set(CURLOPT_REDIR_PROTOCOLS_STR, "https")
        set(CURLOPT_FOLLOWLOCATION, false)
        set(CURLOPT_PROXY, "")
        set(CURLOPT_NOPROXY, "*")
        set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        set(CURLOPT_USERAGENT, configuration.userAgent)
        // Of what libcurl can decode, the one coding that our reader of heads lets through.
        set(CURLOPT_ACCEPT_ENCODING, "gzip")
        set(CURLOPT_HTTP09_ALLOWED, false)
        configureConnection(configuration, millisecondsLeft: millisecondsLeft)
    }

    private func configureConnection(_ configuration: ClientConfiguration, millisecondsLeft: Int) {
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_SSL_VERIFYPEER, !configuration.trustsAnyServer)
        set(CURLOPT_SSL_VERIFYHOST, configuration.trustsAnyServer ? 0 : 2)
        if let file = configuration.trustedCertificatesFile {
            set(CURLOPT_CAINFO, file)
            // Else the system's folder would be trusted beside the file.
            set(CURLOPT_CAPATH, nil)
        }
        set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeoutMilliseconds)
        set(CURLOPT_TIMEOUT_MS, max(1, millisecondsLeft))
        set(CURLOPT_TCP_KEEPALIVE, true)
        // No signals: they belong to the process, and libcurl would use them to end slow look-ups of names.
        set(CURLOPT_NOSIGNAL, true)
        // Otherwise, a transfer that ends during its name look-up would block all others until the look-up ends.
        set(CURLOPT_QUICK_EXIT, true)
    }

    /// Sets what one request asks.
    func address(_ request: ClientRequest) {
        // Waits for a connection that is being made and may carry several requests, rather than making another. Without
        // TLS none may, and a server that hangs would keep the next request from being sent at all.
        set(CURLOPT_PIPEWAIT, request.origin.scheme == .https)
        set(CURLOPT_URL, request.url)
        set(CURLOPT_PATH_AS_IS, true)
        var lines = request.headers.all.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        switch request.method {
        case .get where request.body.isEmpty: set(CURLOPT_HTTPGET, true)
        case .head: set(CURLOPT_NOBODY, true)
        case .post, .put: addBody(request, &lines)
        default:
            if !request.body.isEmpty { addBody(request, &lines) }
        }
        if request.method != .get, request.method != .head { set(CURLOPT_CUSTOMREQUEST, request.method.name) }
        setHeaderLines(lines)
    }

    private func addBody(_ request: ClientRequest, _ lines: inout [String]) {
        set(CURLOPT_POST, true)
        setBody(request.body)
        // What libcurl would add by itself: a wait of a second for 100, and the type of an HTML form.
        lines.append("Expect:")
        if request.headers.count(of: "content-type") == 0 { lines.append("Content-Type:") }
    }
}
