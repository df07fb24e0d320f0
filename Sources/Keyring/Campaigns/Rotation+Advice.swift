/// The commands that continue a campaign. Each refusal of a step names a command that works in the campaign's present
/// state.
extension Rotation {
    /// The next command.
    package var next: String {
        switch phase {
        case .prepared where kind == .revocation: "remint rotate revoke --key-version \(from)"
        case .prepared: "remint rotate promote"
        case .promoted where pause != nil, .canary where pause != nil, .waves where pause != nil:
            "remint rotate resume, then: remint rotate reissue"
        case .promoted, .canary, .waves: "remint rotate reissue"
        case .reissued: "remint rotate retire"
        case .retired, .aborted: "remint rotate prepare"
        }
    }

    /// The command that goes on towards the campaign's end, and the one that goes back, where there is one.
    package var ways: String {
        kind == .rotation && !phase.isOver ? "\(next), or end it with: remint rotate abort" : next
    }
}
