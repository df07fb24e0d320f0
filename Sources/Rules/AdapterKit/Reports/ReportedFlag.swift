extension JSONValue {
    /// The flag that the value is: `true` or `false`, or 1 or 0, as a bridge writes an Objective-C `BOOL` that it boxed
    /// as a number; nil for any other value.
    public var flag: Bool? {
        if let bool { return bool }
        switch integer {
        case 1: return true
        case 0: return false
        default: return nil
        }
    }
}
