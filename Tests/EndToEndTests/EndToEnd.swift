// SPDX-License-Identifier: Apache-2.0
import Testing

/// The built program, as its users run it: started as a process, asked over HTTP, ended by signals.
///
/// What it answers and records is checked by the Python scripts in `Checkers` and by `openssl`, which share no code
/// with it. One test runs at a time, because several of them load the machine on purpose.
@Suite(.serialized)
enum EndToEnd {}
