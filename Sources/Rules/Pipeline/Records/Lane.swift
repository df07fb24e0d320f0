/// The source of an event, which determines its priority.
public enum Lane: String, Sendable, CaseIterable {
    /// Failures of waiting users.
    case live
    /// Events that return from a retry tier.
    case retries
    /// Rotations and batch jobs.
    case bulk
}

/// A value for each lane.
public struct PerLane<Value: Sendable>: Sendable {
    private var live: Value
    private var retries: Value
    private var bulk: Value

    /// Creates the values with `value`.
    public init<Failure: Error>(_ value: (Lane) throws(Failure) -> Value) throws(Failure) {
        live = try value(.live)
        retries = try value(.retries)
        bulk = try value(.bulk)
    }

    /// Creates the values with an asynchronous `value`.
    public init<Failure: Error>(awaiting value: (Lane) async throws(Failure) -> Value) async throws(Failure) {
        live = try await value(.live)
        retries = try await value(.retries)
        bulk = try await value(.bulk)
    }

    /// The value for `lane`.
    public subscript(lane: Lane) -> Value {
        get {
            switch lane {
            case .live: live
            case .retries: retries
            case .bulk: bulk
            }
        }
        set {
            switch lane {
            case .live: live = newValue
            case .retries: retries = newValue
            case .bulk: bulk = newValue
            }
        }
        _modify {
            switch lane {
            case .live: yield &live
            case .retries: yield &retries
            case .bulk: yield &bulk
            }
        }
    }
}
