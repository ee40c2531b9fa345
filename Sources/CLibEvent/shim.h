// libevent's event loop, as Swift sees it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
// First, because libevent's own configuration defines _GNU_SOURCE, with which glibc lays out types such as fd_set
// under other member names than Swift's Glibc module has for them.
#include <features.h>
#include <event2/event.h>
#include <event2/listener.h>

// Here and not in Swift: an optimized build finds these constants in none of the modules that have them.
static inline int shim_open_listening_socket(int family) {
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}
