import NIOCore
import Pipeline

/// A message between a worker and its signer; README.md beside this file describes it byte by byte.
enum SignerFrame: Sendable, Equatable {
    /// The question which keys there are.
    case keysRequest(id: UInt64)
    /// Sign these.
    case signRequest(id: UInt64, SigningUrgency, [Item])
    /// The keys that are there.
    case keys(id: UInt64, [PublishedRing])
    /// The results of the items to sign, in their order.
    case signatures(id: UInt64, [Answer])
    /// The signer closes the connection, for this reason. It answers no question: its number is 0.
    case closing(SignerClosing)

    /// Something to be signed.
    struct Item: Sendable, Equatable {
        /// The ring.
        let ring: String
        /// The version of it.
        let version: String
        /// The algorithm's JOSE name.
        let algorithm: String
        /// `header.payload`.
        let input: [UInt8]
    }

    /// The result for one item.
    enum Answer: Sendable, Equatable {
        case signature([UInt8])
        /// No active key has that name and algorithm.
        case keyUnavailable
        /// The key is there and could not sign.
        case failed
        /// The ring's policy refuses the signature.
        case refused(PolicyViolation)
    }

    /// The number that ties an answer to its question.
    var id: UInt64 {
        switch self {
        case .keysRequest(let id), .signRequest(let id, _, _), .keys(let id, _), .signatures(let id, _): id
        case .closing: 0
        }
    }
}

/// The reason that a signer closes a connection that did not break the protocol.
enum SignerClosing: UInt8, Sendable, CaseIterable, CustomStringConvertible {
    /// The peer's account may not ask.
    case accountNotAllowed = 1
    /// There are as many connections as allowed, and all of them are at work.
    case full = 2
    /// Another connection needed the place, and this one had been silent for longest.
    case replaced = 3
    /// The peer asked nothing for too long.
    case idle = 4

    var description: String {
        switch self {
        case .accountNotAllowed:
            "this account may not ask; name its user id when the signer is started: remint signer --allow-uid UID"
        case .full: "every connection it has is taken and at work"
        case .replaced: "another connection took the place of this one, which had asked nothing for longest"
        case .idle: "nothing was asked for too long"
        }
    }
}

/// A ring as its signer publishes it, without secrets.
struct PublishedRing: Sendable, Equatable {
    /// A version that counts.
    struct Version: Sendable, Equatable {
        /// The state of a version, by its number on the socket.
        enum State: UInt8, Sendable, CaseIterable {
            /// The version signed before.
            case passive = 0
            /// The version signs.
            case active = 1
            /// The version will sign later.
            case prepared = 2
            /// The version is of no further use, but its tokens are recognized.
            case retired = 3
        }

        /// The version's id.
        let id: String
        /// The version's state.
        let state: State
        /// The algorithm's JOSE name.
        let algorithm: String
        /// `kid`, where it has one.
        let keyID: String?
        /// Microseconds since 1970 that no token of it may outlive; nil for none.
        let retireAfter: Int64?
        /// SubjectPublicKeyInfo; nil for a shared secret.
        let publicKeyPEM: String?
    }

    /// The ring's name.
    let name: String
    /// The ring's versions, in the order of its listing.
    let versions: [Version]
}

/// The limits that both sides keep.
enum SignerProtocol {
    /// The only version there is.
    static let version: UInt8 = 4
    /// The most bytes that follow a frame's length.
    static let maximumFrameBytes = 16 << 20
    /// The most bytes of a worker's frame: what it asks for at a time and one long item. Each connection may hold that many.
    static let maximumRequestBytes = 2 << 20
    /// The most items of one request.
    static let maximumItems = 4096
    /// The most rings of an answer, and the most versions of a ring.
    static let maximumRings = 4096
    /// The longest signature, in bytes: twice that of RSA with 16384 bits.
    static let maximumSignatureBytes = 4096
}

/// Bytes that are no frame, or a frame that cannot be encoded. The error names the broken rule, and no byte of the
/// frame.
struct SignerProtocolError: Error, Sendable, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
