// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// The built program, as its users run it: started as a process, asked over HTTP, ended by signals.
///
/// What it answers and records is checked by the Python scripts in `Checkers` and by `openssl`, which share no code
/// with it. Few tests run at once: each has one or more services, and several load the machine on purpose.
@Suite(.atMost(4))
enum EndToEnd {}
