// libcurl, as Swift sees it. Only what the importer cannot bring in by itself is written here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <features.h>
#include <curl/curl.h>
