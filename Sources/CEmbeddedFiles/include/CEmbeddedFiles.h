// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>

// A file that is built into the program. Swift reads it by way of EmbeddedFile.
struct embedded_file {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

// The file of that name, or NULL.
const struct embedded_file *find_embedded_file(const char *name);
