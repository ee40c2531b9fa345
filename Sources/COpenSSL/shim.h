// OpenSSL, as Swift sees it. Only what the importer cannot bring in by itself is written here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <openssl/crypto.h>
#include <openssl/decoder.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <malloc.h>
#include <openssl/core_names.h>
#include <openssl/pkcs12.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// An allocator that leaves nothing behind: blocks are wiped, whole, before they go back to malloc.
static inline void *shim_wiping_malloc(size_t count, const char *file, int line) {
    (void)file;
    (void)line;
    return count == 0 ? NULL : malloc(count);
}
static inline void shim_wiping_free(void *block, const char *file, int line) {
    (void)file;
    (void)line;
    if (block == NULL) return;
    explicit_bzero(block, malloc_usable_size(block));
    free(block);
}
static inline void *shim_wiping_realloc(void *block, size_t count, const char *file, int line) {
    if (block == NULL) return shim_wiping_malloc(count, file, line);
    if (count == 0) {
        shim_wiping_free(block, file, line);
        return NULL;
    }
    // Never realloc: it may move the block, and frees the old place as it is.
    const size_t usable = malloc_usable_size(block);
    void *const moved = malloc(count);
    if (moved == NULL) return NULL;
    memcpy(moved, block, usable < count ? usable : count);
    shim_wiping_free(block, file, line);
    return moved;
}
static inline int shim_use_wiping_allocator(void) {
    return CRYPTO_set_mem_functions(shim_wiping_malloc, shim_wiping_realloc, shim_wiping_free);
}

// Macros in <openssl/evp.h> and <openssl/bio.h>.
static inline EVP_PKEY *shim_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }
static inline EVP_PKEY *shim_EVP_ed25519_gen(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }
static inline long shim_BIO_get_mem_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

// A decoder keeps the pointers to these words, and words that come from Swift are gone after the call.
static inline OSSL_DECODER_CTX *shim_ec_key_decoder(EVP_PKEY **key) {
    return OSSL_DECODER_CTX_new_for_pkey(key, "DER", "PrivateKeyInfo", "EC", EVP_PKEY_KEYPAIR, NULL, NULL);
}
static inline OSSL_DECODER_CTX *shim_rsa_key_decoder(EVP_PKEY **key) {
    return OSSL_DECODER_CTX_new_for_pkey(key, "DER", "PrivateKeyInfo", "RSA", EVP_PKEY_KEYPAIR, NULL, NULL);
}
static inline OSSL_DECODER_CTX *shim_ed25519_key_decoder(EVP_PKEY **key) {
    return OSSL_DECODER_CTX_new_for_pkey(key, "DER", "PrivateKeyInfo", "ED25519", EVP_PKEY_KEYPAIR, NULL, NULL);
}

// HMAC by OpenSSL's older functions: `EVP_MAC` keeps a copy of the key in ordinary memory, and these keep none.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline void shim_hmac_free(HMAC_CTX *context) { HMAC_CTX_free(context); }
static inline HMAC_CTX *shim_hmac_sha256_keyed(const unsigned char *key, size_t key_count) {
    HMAC_CTX *context = HMAC_CTX_new();
    if (context != NULL && HMAC_Init_ex(context, key, (int)key_count, EVP_sha256(), NULL) == 1) return context;
    HMAC_CTX_free(context);
    return NULL;
}
static inline HMAC_CTX *shim_hmac_copy(HMAC_CTX *context) {
    HMAC_CTX *copy = HMAC_CTX_new();
    if (copy != NULL && HMAC_CTX_copy(copy, context) == 1) return copy;
    HMAC_CTX_free(copy);
    return NULL;
}
// Without a key, the states prepared from it are taken up again.
static inline int shim_hmac(HMAC_CTX *context, const unsigned char *message, size_t count, unsigned char *code) {
    return HMAC_Init_ex(context, NULL, 0, NULL, NULL) == 1 && HMAC_Update(context, message, count) == 1
        && HMAC_Final(context, code, NULL) == 1;
}
#pragma GCC diagnostic pop

// Macros over OpenSSL's untyped stack. A pushed certificate still belongs to whoever had it.
static inline STACK_OF(X509) *shim_sk_X509_new(void) { return sk_X509_new_null(); }
static inline int shim_sk_X509_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}
static inline int shim_sk_X509_num(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *shim_sk_X509_value(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
static inline void shim_sk_X509_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }
static inline int shim_sk_STRING_num(const STACK_OF(OPENSSL_STRING) *stack) { return sk_OPENSSL_STRING_num(stack); }
static inline const char *shim_sk_STRING_value(const STACK_OF(OPENSSL_STRING) *stack, int index) {
    return sk_OPENSSL_STRING_value(stack, index);
}

// Seconds since 1970; 0 if the text is no time. `struct tm` is not for Swift to fill.
static inline int shim_unix_seconds(const ASN1_TIME *time, int64_t *seconds) {
    struct tm parts;
    if (time == NULL || ASN1_TIME_to_tm(time, &parts) != 1) return 0;
    *seconds = timegm(&parts);
    return 1;
}
