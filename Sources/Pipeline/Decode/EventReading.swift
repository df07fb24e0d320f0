import AdapterKit

/// What a record says, and what that calls for.
enum EventReading: Sendable {
    case event(Triage)
    case unreadable(Rejection)

    init(
        _ record: InputRecord, _ decoder: EventDecoder, _ apps: AppDirectory, _ keys: [String: [RingKey]],
        _ now: UnixTime
    ) {
        do throws(Rejection) {
            let event = try decoder.decode(record)
            self = .event(Triage(event, apps: apps, keys: keys, now: now))
        } catch { self = .unreadable(error) }
    }
}
