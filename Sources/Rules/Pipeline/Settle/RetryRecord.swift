public import AdapterKit
public import Records

/// An event on its way to a retry tier: key, value and headers as they came, its origin, and the end of its wait.
struct RetryRecord: Sendable {
    let record: InputRecord
    let provenance: Provenance
    let wait: RetryPolicy.Wait
    let deferral: Deferral
    let stage: Stage
    let time: UnixTime

    var output: OutputRecord {
        // A wait for a suspended app or for a vendor's answer is no attempt.
        let attempts = provenance.attempts + (deferral.isAttempt ? 1 : 0)
        var headers = record.keptHeaders + provenance.headers
        headers += [
            RecordHeader(HopHeaders.notBefore, String(wait.notBefore.milliseconds)),
            RecordHeader(HopHeaders.attempts, String(attempts)),
            RecordHeader(HopHeaders.redrives, String(Provenance.redrives(of: record.body))),
            RecordHeader(HopHeaders.history, provenance.history(adding: deferral.name, at: stage, on: time)),
        ]
        let failed = provenance.firstFailedAt ?? time
        headers.append(RecordHeader(HopHeaders.firstFailedAt, String(failed.milliseconds)))
        return OutputRecord(
            destination: .retries(tier: wait.tier), key: record.key, value: record.value, headers: headers)
    }
}

extension RetryPolicy {
    /// Returns the time at which a worker may process a record of a retry tier: the time that its header states, with a
    /// limit.
    ///
    /// Any producer with access to the topic can write a time in the far future, as a header or as the record's
    /// timestamp, and block the partition. The limit is the tier's delay plus five seconds for clock differences.
    func dueTime(of record: InputRecord, takenAt now: UnixTime) -> UnixTime {
        dueTime(of: record.body, tier: record.tier, producedAt: record.timestamp, takenAt: now)
    }

    /// Returns the same time for a record that is not decoded yet.
    public func dueTime(
        of body: RecordBody, tier: Int?, producedAt timestamp: UnixTime?, takenAt now: UnixTime
    ) -> UnixTime {
        guard let timestamp, let tier, tiers.indices.contains(tier) else {
            return UnixTime(microseconds: .min)
        }
        let due = min(timestamp, now).advanced(byMicroseconds: tiers[tier].delay)
        let stated = body.text(HopHeaders.notBefore).flatMap { Int64($0) }.map {
            UnixTime(milliseconds: $0)
        }
        return min(stated ?? due, due.advanced(byMicroseconds: 5_000_000))
    }
}
