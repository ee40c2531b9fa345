// libevent, as Swift sees it. Only what the importer cannot bring in by itself is written here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
// First, because libevent's own configuration defines _GNU_SOURCE, with which glibc lays out types such as fd_set
// under other member names than Swift's Glibc module has for them.
#include <features.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
