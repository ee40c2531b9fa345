// SPDX-License-Identifier: Apache-2.0
import CCurl

/// One transfer's handle in libcurl, with what libcurl reads through pointers for as long as it lives.
///
/// Owned by one ``Transfer`` and used on one thread at a time. The first option that libcurl refuses is remembered, and
/// ``check()`` tells it, so that settings read as a list.
@safe
final class EasyHandle {
    /// The multi handle also uses it; remove it from the multi handle before this object is deallocated.
    let pointer: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var failure: CURLcode = CURLE_OK

    init() throws(ClientError) {
        guard let pointer = unsafe curl_easy_init() else {
            throw .library(code: Int(CURLE_OUT_OF_MEMORY.rawValue), "no memory for a transfer")
        }
        unsafe self.pointer = pointer
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe note(shim_easy_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorText))
    }

    deinit {
        unsafe curl_easy_cleanup(pointer)
        unsafe curl_slist_free_all(headerList)
        unsafe errorText.deallocate()
    }

    func set(_ option: CURLoption, _ value: Int) {
        unsafe note(shim_easy_set_long(pointer, option, value))
    }

    func set(_ option: CURLoption, _ value: Bool) {
        set(option, value ? 1 : 0)
    }

    /// libcurl copies the text; `nil` takes back what is the default.
    func set(_ option: CURLoption, _ value: String?) {
        if let value {
            unsafe note(shim_easy_set_text(pointer, option, value))
        } else {
            unsafe note(shim_easy_set_text(pointer, option, nil))
        }
    }

    /// Has `receiver` called with `context`, which must outlive the transfer.
    func set(
        _ option: CURLoption,
        to receiver: curl_write_callback,
        _ contextOption: CURLoption,
        to context: UnsafeMutableRawPointer
    ) {
        unsafe note(shim_easy_set_receiver(pointer, option, receiver))
        unsafe note(shim_easy_set_pointer(pointer, contextOption, context))
    }

    /// Has `opener` open each socket, with `context`, which must outlive the transfer.
    func setSocketOpener(_ opener: curl_opensocket_callback, _ context: UnsafeMutableRawPointer) {
        unsafe note(shim_easy_set_socket_opener(pointer, opener))
        unsafe note(shim_easy_set_pointer(pointer, CURLOPT_OPENSOCKETDATA, context))
    }

    /// Sets a body, which libcurl copies.
    func setBody(_ body: [UInt8]) {
        unsafe note(shim_easy_set_size(pointer, CURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count)))
        unsafe body.withUnsafeBytes { body in
            let start = unsafe UnsafeMutableRawPointer(mutating: body.baseAddress)
            guard let start = unsafe start else { return set(CURLOPT_COPYPOSTFIELDS, "") }
            unsafe note(shim_easy_set_pointer(pointer, CURLOPT_COPYPOSTFIELDS, start))
        }
    }

    /// Sets all header fields that are not libcurl's own, as lines; libcurl keeps the list, which lives as long as this.
    func setHeaderLines(_ lines: [String]) {
        for line in lines {
            guard let longer = unsafe curl_slist_append(headerList, line) else { return note(CURLE_OUT_OF_MEMORY) }
            unsafe headerList = longer
        }
        unsafe note(shim_easy_set_list(pointer, CURLOPT_HTTPHEADER, headerList))
    }

    /// A number to know the transfer by when libcurl gives it back.
    func setNumber(_ number: UInt) {
        unsafe note(shim_easy_set_number(pointer, number))
    }

    /// Throws the first refusal of an option.
    func check() throws(ClientError) {
        guard failure != CURLE_OK else { return }
        throw .library(code: Int(failure.rawValue), CurlLibrary.text(failure))
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        unsafe shim_easy_get_long(pointer, info, &value)
        return value
    }

    func size(_ info: CURLINFO) -> Int64 {
        var value: Int64 = 0
        unsafe shim_easy_get_size(pointer, info, &value)
        return value
    }

    /// What libcurl says of a failure: its own sentence for this transfer, or that for the code.
    func explanation(of code: CURLcode) -> String {
        let text = unsafe String(cString: errorText)
        return text.isEmpty ? CurlLibrary.text(code) : text
    }

    private func note(_ code: CURLcode) {
        if failure == CURLE_OK { failure = code }
    }
}
