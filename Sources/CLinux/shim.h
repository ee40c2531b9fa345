// What Linux offers and Swift's Glibc module leaves out: variadic or missing declarations.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <linux/stat.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/timex.h>

// prctl is variadic, which Swift cannot call.
static inline int shim_prctl_set_dumpable(unsigned long dumpable) {
    return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0);
}

static inline int shim_prctl_get_dumpable(void) {
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
}

// The name of the limit has another type in C++, GNU C and plain C; Swift sees none of them well.
static inline int shim_forbid_core_files(void) {
    const struct rlimit none = {0, 0};
    return setrlimit(RLIMIT_CORE, &none);
}
static inline int shim_core_files_forbidden(void) {
    struct rlimit found;
    return getrlimit(RLIMIT_CORE, &found) == 0 && found.rlim_cur == 0 && found.rlim_max == 0;
}

// A GNU extension. The name, as top and gdb show it, has at most 15 bytes.
int pthread_setname_np(unsigned long thread, const char *name);
unsigned long pthread_self(void);
static inline void shim_name_thread(const char *name) {
    pthread_setname_np(pthread_self(), name);
}

// SCHED_IDLE is a GNU extension. Applies to the calling thread alone.
static inline int shim_run_when_idle(void) {
    const struct sched_param none = {0};
    return sched_setscheduler(0, 5 /* SCHED_IDLE */, &none);
}

// A GNU extension. Asks for the inode alone: since Linux 6.13, whoever has seen a file's times makes the next write set
// them to the nanosecond, and a filesystem without a journal write them out with the next fdatasync.
int statx(int directory, const char *path, int flags, unsigned int mask, struct statx *status);
static inline int shim_find_inode(const char *path, struct statx *status) {
    return statx(AT_FDCWD, path, 0, STATX_INO, status);
}
