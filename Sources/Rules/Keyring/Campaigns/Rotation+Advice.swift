/// The commands that continue a campaign. Each refusal of a step names a command that works in the campaign's present
/// state.
extension Rotation {
    /// The next command.
    package var next: String {
        switch phase {
        case .prepared where kind == .revocation: RemintCommand("rotate revoke", "--key-version", from).description
        case .prepared: RemintCommand("rotate promote").description
        case .promoted where pause != nil, .canary where pause != nil, .waves where pause != nil:
            "\(RemintCommand("rotate resume")), then: \(RemintCommand("rotate reissue"))"
        case .promoted, .canary, .waves: RemintCommand("rotate reissue").description
        case .reissued: RemintCommand("rotate retire").description
        case .retired, .aborted: RemintCommand("rotate prepare").description
        }
    }

    /// The command that goes on towards the campaign's end, and the one that goes back, where there is one.
    package var ways: String {
        kind == .rotation && !phase.isOver ? "\(next), or end it with: \(RemintCommand("rotate abort"))" : next
    }
}
