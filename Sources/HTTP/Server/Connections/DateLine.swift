// SPDX-License-Identifier: Apache-2.0
// As in Clock.swift: which header provides `timespec` depends on the order in which modules are read.
import CCurl
import Glibc

/// A response's `Date` line, rewritten when the second changes.
struct DateLine {
    private var second = Int.min
    private var bytes: [UInt8] = []

    /// The whole line, its end included, as RFC 9110, section 5.6.7 writes the present.
    mutating func now() -> [UInt8] {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        if time.tv_sec != second {
            second = time.tv_sec
            bytes = Self.line(at: second)
        }
        return bytes
    }

    /// The line that many seconds after the beginning of 1970 in UTC.
    static func line(at second: Int) -> [UInt8] {
        var (second, parts) = unsafe (second, tm())
        unsafe gmtime_r(&second, &parts)
        let (weekday, day, month, year) = unsafe (parts.tm_wday, parts.tm_mday, parts.tm_mon, parts.tm_year)
        let time = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
        let date = "\(days[Int(weekday)]), \(twoDigits(day)) \(months[Int(month)]) \(1900 + year)"
        return Array("Date: \(date) \(time) GMT\r\n".utf8)
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
