// What Linux offers and Swift's Glibc module leaves out: variadic or missing declarations.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/timex.h>

// prctl is variadic, which Swift cannot call.
static inline int shim_prctl_set_dumpable(unsigned long dumpable) {
    return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0);
}
