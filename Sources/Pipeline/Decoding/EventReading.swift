import AdapterKit

/// What a record says, and what that calls for.
enum EventReading: Sendable {
    case event(Triage)
    case unreadable(Rejection)

    init(_ record: InputRecord, _ decoder: EventDecoder, _ apps: [String: App], _ now: UnixTime) {
        do throws(Rejection) {
            let event = try decoder.decode(record)
            self = .event(Triage(event, apps: apps, now: now))
        } catch { self = .unreadable(error) }
    }
}
