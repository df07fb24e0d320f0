public import AdapterKit

/// The duration of a failure: from its first report to its token.
public enum RecoveryTime {
    /// The upper bounds of the histograms' buckets, in seconds: the worker's and the gateway's are the same, so that their difference
    /// can be asked for.
    public static let buckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

    /// Returns the time from `reported` to `now`, in seconds. Devices, edges, workers and gateways each have a clock of
    /// their own. Where their difference puts the answer before the report, the result is 0.
    public static func seconds(from reported: UnixTime, to now: UnixTime) -> Double {
        Double(max(0, now.microseconds(since: reported))) / 1e6
    }
}
