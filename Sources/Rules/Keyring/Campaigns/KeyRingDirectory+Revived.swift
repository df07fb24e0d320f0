extension KeyRingDirectory {
    /// Returns the versions of `listing` that are in use although they were retired or revoked before, according to the
    /// ring's audit log and its campaign, as far as these can be read.
    public func revivedVersions(in listing: KeyRingListing) -> [RevivedVersion] {
        var ended = AuditLog(self).endedVersions()
        if let rotation = try? RotationFile(self).load(), rotation.phase == .retired {
            ended[rotation.from] = rotation.kind == .revocation ? .revoked : ended[rotation.from] ?? .retired
        }
        return revivedVersions(in: listing, ended: ended)
    }
}
