import AdapterKit

/// The version of a token that a request shows its caller to have.
///
/// An instance may lag behind the one that handed out this version. So no older token is an answer to the request.
enum ShownVersion {
    /// The lead of a worker's clock up to which a version is possible, in seconds. It is the difference above which the
    /// gateway reports its own clock as wrong.
    private static let skew: Int64 = 300

    /// Returns the highest one of `versions` that a worker may have given by `now`; 0 where there is none. An impossible
    /// version is no token's, and must not keep its caller from every token.
    static func floor(_ versions: [Int64], at now: UnixTime) -> Int64 {
        let latest = now.advanced(bySeconds: skew).microseconds
        return versions.reduce(0) { $1 <= latest ? max($0, $1) : $0 }
    }
}
