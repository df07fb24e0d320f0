extension KeyRingDirectory {
    /// The versions of `listing` that are in use although they were retired or revoked before, as far as the ring's audit log and its
    /// campaign can be read and say so.
    public func revivedVersions(in listing: KeyRingListing) -> [RevivedVersion] {
        var ended = AuditLog(self).endedVersions()
        if let rotation = try? RotationFile(self).load(), rotation.phase == .retired {
            ended[rotation.from] = rotation.kind == .revocation ? .revoked : ended[rotation.from] ?? .retired
        }
        return revivedVersions(in: listing, ended: ended)
    }
}
