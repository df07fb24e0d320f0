package import Formats

/// Dates as HTTP writes them (RFC 9110, section 5.6.7), read in all three forms that a recipient has to accept.
package enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Years of two digits are never further ahead, in seconds: fifty years.
    private static let furthest: Int64 = 50 * 31_556_952

    /// Returns the moment that `text` names; nil where it is no date. The day of the week is not checked.
    ///
    /// - Parameter now: the current time, near which a year of two digits lies.
    static func parse(_ text: String, now: UnixTime) -> UnixTime? {
        let words = text.split { $0 == " " || $0 == "\t" }
        switch words.count {
        // Sun, 06 Nov 1994 08:49:37 GMT
        case 6 where words[0].hasSuffix(",") && words[5] == "GMT":
            return moment(day: words[1], month: words[2], year: words[3], time: words[4])
        // Sunday, 06-Nov-94 08:49:37 GMT
        case 4 where words[0].hasSuffix(",") && words[3] == "GMT":
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3, date[2].utf8.count == 2 else { return nil }
            let moments = ["20", "19"].map { moment(day: date[0], month: date[1], year: $0 + date[2], time: words[2]) }
            return moments[0].flatMap { $0 > now.advanced(bySeconds: furthest) ? moments[1] : $0 }
        // Sun Nov  6 08:49:37 1994
        case 5: return moment(day: words[2], month: words[1], year: words[4], time: words[3])
        default: return nil
        }
    }

    /// Returns `moment`, of 1970 or later, in the form that senders use.
    package static func text(_ moment: UnixTime) -> String {
        let parts = RFC3339.format(UnixTime(seconds: moment.seconds)).split { "-TZ".contains($0) }
        guard parts.count == 4, let month = Int(parts[1]), months.indices.contains(month - 1) else { return "" }
        let weekday = weekdays[Int(max(0, moment.seconds) / 86_400 % 7)]
        return "\(weekday), \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]) GMT"
    }

    private static func moment(day: Substring, month: Substring, year: some StringProtocol, time: Substring)
        -> UnixTime?
    {
        guard let month = months.firstIndex(where: { $0 == month }), (1...2).contains(day.utf8.count) else {
            return nil
        }
        let twoDigits = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        let date = "\(year)-\(twoDigits)-\(day.utf8.count == 1 ? "0" : "")\(day)"
        return RFC3339.parse("\(date)T\(time)Z")
    }
}
