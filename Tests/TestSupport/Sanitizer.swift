// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The sanitizer that this process, and the program that was built with it, run under, if any.
package enum Sanitizer {
    /// Sanitizers keep freed memory, map terabytes for themselves, and report crashes in their own way.
    package static let isActive = ["__asan_init", "__tsan_init"].contains { (name: String) in
        unsafe dlsym(dlopen(nil, RTLD_NOW), name) != nil
    }
}
