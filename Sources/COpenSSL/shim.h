// OpenSSL, as Swift sees it. Only what the importer cannot bring in by itself is written here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <openssl/crypto.h>
#include <openssl/decoder.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
