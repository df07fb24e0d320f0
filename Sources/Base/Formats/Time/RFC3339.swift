/// Date and time as RFC 3339 writes them; the ISO 8601 dates of the vendors' SDKs are within it.
///
/// Written by hand because one is read per event: a formatter object would cost more than the signature of some tokens.
public enum RFC3339 {
    /// Returns the moment that `text` names; nil where it is not a date-time of section 5.6. Fractions beyond
    /// microseconds are cut; a leap second is read as the second that follows.
    public static func parse(_ text: String) -> UnixTime? {
        var text = text
        return text.withUTF8 { utf8 in
            var scanner = unsafe Scanner(bytes: utf8)
            return scanner.dateTime()
        }
    }

    package static func format(_ time: UnixTime) -> String {
        let seconds = time.seconds
        let fraction = time.microseconds - seconds * 1_000_000
        let days = floorDivide(seconds, by: 86_400)
        let (year, month, day) = civil(fromDays: days)
        let second = seconds - days * 86_400
        var text = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        text += "T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
        if fraction != 0 { text += fraction % 1000 == 0 ? ".\(padded(fraction / 1000, 3))" : ".\(padded(fraction, 6))" }
        return text + "Z"
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Days since 1970 of a proleptic Gregorian date, counted in 400-year eras that begin on the first of March.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    /// Lives inside `withUTF8` alone, and checks every index.
    @safe
    private struct Scanner {
        let bytes: UnsafeBufferPointer<UInt8>
        var position = 0

        mutating func dateTime() -> UnixTime? {
            guard let year = digits(4), take("-"), let month = digits(2), take("-"), let day = digits(2),
                (1...9999).contains(year), (1...12).contains(month), day >= 1, day <= Self.lengthOf(month, year),
                take("T") || take("t") || take(" "),
                let hour = digits(2), take(":"), let minute = digits(2), take(":"), let second = digits(2),
                hour < 24, minute < 60, second <= 60, let fraction = fraction(), let offset = offset(),
                unsafe position == bytes.count
            else { return nil }
            let days = RFC3339.days(year: year, month: month, day: day)
            let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
            return UnixTime(microseconds: seconds * 1_000_000 + fraction)
        }

        static func lengthOf(_ month: Int64, _ year: Int64) -> Int64 {
            switch month {
            case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
            case 4, 6, 9, 11: 30
            default: 31
            }
        }

        mutating func digits(_ count: Int) -> Int64? {
            var value: Int64 = 0
            for _ in 0..<count {
                guard let digit = digit() else { return nil }
                value = value * 10 + digit
            }
            return value
        }

        mutating func digit() -> Int64? {
            guard unsafe position < bytes.count,
                unsafe (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position])
            else {
                return nil
            }
            defer { position += 1 }
            return unsafe Int64(bytes[position] - UInt8(ascii: "0"))
        }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard unsafe position < bytes.count, unsafe bytes[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        /// Microseconds; 0 where there is no fraction, nil where a dot has no digit after it.
        mutating func fraction() -> Int64? {
            guard take(".") else { return 0 }
            guard let first = digit() else { return nil }
            var value = first * 100_000
            var unit: Int64 = 10_000
            while let digit = digit() {
                value += digit * unit
                unit /= 10
            }
            return value
        }

        mutating func offset() -> Int64? {
            if take("Z") || take("z") { return 0 }
            let sign: Int64
            if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
            guard let hours = digits(2), take(":"), let minutes = digits(2), hours < 24, minutes < 60 else {
                return nil
            }
            return sign * (hours * 3600 + minutes * 60)
        }
    }
}
