extension UnixTime {
    /// Returns the time from this moment to `end` in its largest whole unit, such as "29 days"; "0 minutes" once it is over.
    package func left(until end: UnixTime) -> String {
        let (gap, overflow) = end.seconds.subtractingReportingOverflow(seconds)
        let seconds = overflow ? 0 : Swift.max(0, gap)
        for (unit, length) in [("day", Int64(86_400)), ("hour", 3600)] where seconds >= 2 * length {
            return Int(clamping: seconds / length).of(unit)
        }
        return Int(clamping: seconds / 60).of("minute")
    }
}
