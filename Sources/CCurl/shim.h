// libcurl, as Swift sees it. Only what the importer cannot bring in by itself is written here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <features.h>
#include <curl/curl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/ioctl.h>

// curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are variadic, which Swift cannot call: one function for each
// type of argument. libcurl copies texts, and the body given as CURLOPT_COPYPOSTFIELDS; lists and pointers it keeps.
static inline CURLcode shim_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode shim_easy_set_size(CURL *easy, CURLoption option, int64_t value) {
    return curl_easy_setopt(easy, option, (curl_off_t)value);
}
static inline CURLcode shim_easy_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode shim_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode shim_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode shim_easy_set_receiver(CURL *easy, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(easy, option, value);
}
// Here and not in Swift: with two modules that have it, an optimized build finds SOCK_CLOEXEC in neither.
static inline int shim_open_socket(int family, int type, int protocol) {
    return socket(family, type | SOCK_CLOEXEC, protocol);
}
static inline CURLcode shim_easy_set_socket_opener(CURL *easy, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode shim_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode shim_easy_get_size(CURL *easy, CURLINFO info, int64_t *value) {
    curl_off_t size = 0;
    const CURLcode code = curl_easy_getinfo(easy, info, &size);
    *value = size;
    return code;
}
static inline CURLcode shim_easy_get_socket(CURL *easy, int *value) {
    curl_socket_t found = CURL_SOCKET_BAD;
    const CURLcode code = curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &found);
    *value = found;
    return code;
}
static inline CURLMcode shim_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// A socket of a connection that libcurl made and left to us. The constants stay in C, as above.
//
// Returns once something has arrived or, with `writes`, more can be sent; or when the time is over.
static inline void shim_await_socket(int socket, int writes, int milliseconds) {
    struct pollfd one = {socket, writes ? POLLIN | POLLOUT : POLLIN, 0};
    poll(&one, 1, milliseconds);
}
// Bytes that the other side's system has not acknowledged; of TCP, TIOCOUTQ is SIOCOUTQ (tcp(7)). -1 if it is not known.
static inline int shim_unacknowledged_bytes(int socket) {
    int count = 0;
    return ioctl(socket, TIOCOUTQ, &count) == 0 ? count : -1;
}
// Ends the connection if nothing is acknowledged for so long: IPPROTO_TCP and TCP_USER_TIMEOUT of tcp(7).
static inline void shim_limit_silence(int socket, unsigned int milliseconds) {
    setsockopt(socket, 6, 18, &milliseconds, sizeof milliseconds);
}

// A number that travels with a transfer in the place of a pointer.
static inline CURLcode shim_easy_set_number(CURL *easy, uintptr_t number) {
    return curl_easy_setopt(easy, CURLOPT_PRIVATE, (void *)number);
}
static inline uintptr_t shim_easy_number(CURL *easy) {
    char *number = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &number);
    return (uintptr_t)number;
}

// The next transfer that ended, its handle in `easy` and its outcome in `result`; 0 if there is none. The union in
// CURLMsg is read only where its tag says what it holds.
static inline int shim_multi_next_end(CURLM *multi, CURL **easy, CURLcode *result) {
    int left = 0;
    for (;;) {
        const CURLMsg *const message = curl_multi_info_read(multi, &left);
        if (message == NULL) return 0;
        if (message->msg != CURLMSG_DONE) continue;
        *easy = message->easy_handle;
        *result = message->data.result;
        return 1;
    }
}
