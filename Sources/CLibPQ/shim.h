// libpq, as Swift sees it: types and constants of its header, and a table of its functions, found when it is loaded.
// Nothing links to the library, so a service on SQLite goes without it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dlfcn.h>
#include <postgresql/libpq-fe.h>

#define SHIM_LIBPQ_FUNCTIONS(EACH) \
    EACH(PQconninfoParse) \
    EACH(PQconninfoFree) \
    EACH(PQfreemem) \
    EACH(PQconnectdbParams) \
    EACH(PQfinish) \
    EACH(PQstatus) \
    EACH(PQerrorMessage) \
    EACH(PQtransactionStatus) \
    EACH(PQsocket) \
    EACH(PQserverVersion) \
    EACH(PQparameterStatus) \
    EACH(PQsetNoticeReceiver) \
    EACH(PQsetnonblocking) \
    EACH(PQenterPipelineMode) \
    EACH(PQpipelineSync) \
    EACH(PQsendPrepare) \
    EACH(PQsendQueryParams) \
    EACH(PQsendQueryPrepared) \
    EACH(PQflush) \
    EACH(PQconsumeInput) \
    EACH(PQisBusy) \
    EACH(PQgetResult) \
    EACH(PQclear) \
    EACH(PQresultStatus) \
    EACH(PQresultErrorField) \
    EACH(PQresultErrorMessage) \
    EACH(PQcmdStatus) \
    EACH(PQcmdTuples) \
    EACH(PQntuples) \
    EACH(PQnfields) \
    EACH(PQftype) \
    EACH(PQgetisnull) \
    EACH(PQgetlength) \
    EACH(PQgetvalue)

#define SHIM_LIBPQ_MEMBER(name) __typeof__(name) *_Nonnull name;
struct shim_libpq {
    SHIM_LIBPQ_FUNCTIONS(SHIM_LIBPQ_MEMBER)
};

#define SHIM_LIBPQ_FIND(name) \
    { \
        void *address = dlsym(library, #name); \
        if (!address) return #name; \
        *(void **)(void *)&table->name = address; \
    }

// Fills the table; returns the name of the function that the library does not have, or NULL.
static inline const char *_Nullable shim_libpq_find(void *_Nonnull library, struct shim_libpq *_Nonnull table) {
    SHIM_LIBPQ_FUNCTIONS(SHIM_LIBPQ_FIND)
    return 0;
}
