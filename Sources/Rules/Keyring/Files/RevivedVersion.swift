/// A version that was retired or revoked according to the audit log or a campaign that is over, but that the listing
/// has in use again, because an old `keyring.json` was restored.
public struct RevivedVersion: Sendable, Equatable {
    /// The version's id.
    public let id: String
    /// The version's state in the listing.
    public let state: KeyVersion.State
    /// The state in which it was out of use: retired or revoked.
    public let ended: KeyVersion.State

    /// The finding with the commands that end the version again.
    public var description: String {
        "\(id) was \(ended.rawValue), and keyring.json has it \(state.rawValue) again; an older file was restored. Run: \(remedy)"
    }

    private var retirement: RemintCommand { RemintCommand("rotate retire", "--key-version", id) }

    private var remedy: String {
        switch (ended, state) {
        case (.revoked, .active): RemintCommand("rotate revoke", "--key-version", id, "--promote", "ID").description
        case (.revoked, _): RemintCommand("rotate revoke", "--key-version", id).description
        case (_, .active): "\(RemintCommand("rotate promote", "--key-version", "ID")), then \(retirement)"
        default: retirement.description
        }
    }
}

extension KeyRingDirectory {
    /// Returns the versions of `listing` that are in use and were in the states of `ended` before.
    func revivedVersions(in listing: KeyRingListing, ended: [String: KeyVersion.State]) -> [RevivedVersion] {
        listing.versions.compactMap { version in
            guard let end = ended[version.id], version.state != .retired, version.state != .revoked else { return nil }
            return RevivedVersion(id: version.id, state: version.state, ended: end)
        }
    }
}
