import AdapterKit
public import Records

/// A token of ours that a vendor refused, as its dead letter names it: the key version and the subject, never the
/// token.
public struct RefusedToken: Sendable, Equatable {
    /// The key ring.
    public let ring: String
    /// The id of the key version; nil if the report does not show it.
    public let keyID: String?
    /// The subject key.
    public let subjectKey: [UInt8]

    init(ring: String, keyID: String?, subjectKey: [UInt8]) {
        self.ring = ring
        self.keyID = keyID
        self.subjectKey = subjectKey
    }

    /// Reads the token that the dead letter `body` names; nil if it names none.
    public init?(_ body: RecordBody) {
        guard let ring = body.text(HopHeaders.refusedKeyRing), let subject = body.text(HopHeaders.refusedSubject) else {
            return nil
        }
        self.init(ring: ring, keyID: body.text(HopHeaders.refusedKeyID), subjectKey: Array(subject.utf8))
    }

    var headers: [RecordHeader] {
        (keyID.map { [RecordHeader(HopHeaders.refusedKeyID, $0)] } ?? []) + [
            RecordHeader(HopHeaders.refusedKeyRing, ring), RecordHeader(HopHeaders.refusedSubject, subjectKey),
        ]
    }
}
