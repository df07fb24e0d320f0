/// Where an event comes from, and so how soon it is its turn.
public enum Lane: String, Sendable, CaseIterable {
    /// Failures of users who wait.
    case live
    /// Events of either kind that come back from a retry tier.
    case retries
    /// Rotations and batch jobs.
    case bulk
}

/// One value for each lane.
public struct PerLane<Value: Sendable>: Sendable {
    private var live: Value
    private var retries: Value
    private var bulk: Value

    /// What `value` says of each lane.
    public init<Failure: Error>(_ value: (Lane) throws(Failure) -> Value) throws(Failure) {
        live = try value(.live)
        retries = try value(.retries)
        bulk = try value(.bulk)
    }

    /// As the other initialiser, for values that take time.
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
