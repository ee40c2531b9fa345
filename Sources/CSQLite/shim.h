// SQLite, as Swift sees it. Only what the importer cannot bring in by itself is written here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sqlite3.h>

// sqlite3_db_config is variadic; these options all take an int and a place for the resulting value.
static inline int shim_sqlite3_db_config_switch(sqlite3 *connection, int option, int isOn, int *result) {
    return sqlite3_db_config(connection, option, isOn, result);
}

// SQLITE_STATIC is a cast, which is not imported: the bytes outlive the use of the statement.
static inline int shim_sqlite3_bind_static_text(sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_STATIC, SQLITE_UTF8);
}

static inline int shim_sqlite3_bind_static_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_STATIC);
}

// sqlite3_config is variadic. The service never reads this count, and without it SQLite takes no lock to allocate memory.
static inline int shim_sqlite3_config_without_memory_status(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
