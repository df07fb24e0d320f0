/// The names of one object of claims, of which some are put together: two that are the same would let a user's id write another
/// claim a second time, such as an `exp` of its own.
struct SiblingNames: Sendable {
    private let constants: Set<[UInt8]>
    private let computed: [[TextPart]]

    /// The names of `claims`; nil where each is a constant.
    init?(_ claims: [Claim], keyID: String) {
        let parts = claims.compactMap(\.nameParts)
        guard !parts.isEmpty else { return nil }
        constants = Set(claims.filter { $0.nameParts == nil }.map { Array($0.name.utf8) })
        computed = parts.map { $0.map { $0 == .keyID ? .constant(keyID) : $0 } }
    }

    private init(_ constants: Set<[UInt8]>, _ computed: [[TextPart]]) {
        self.constants = constants
        self.computed = computed
    }

    /// Returns the same names with the times of `life` filled in.
    func valid(_ life: Validity) -> SiblingNames {
        let filled = computed.map { parts in
            parts.map { part -> TextPart in
                switch part {
                case .moment(let moment): .constant(String(moment.value(in: life)))
                case .date: .constant(String(decoding: TextPart.date(of: life.issuedAt), as: UTF8.self))
                default: part
                }
            }
        }
        return SiblingNames(constants, filled)
    }

    /// Returns the reason `subject` can have no token with such names; nil where all names differ.
    func refusal(of subject: Subject) -> Rejection? {
        var seen = constants
        for parts in computed {
            guard seen.insert(name(parts, subject.user ?? "")).inserted else {
                return Rejection(.malformedReport, "the user's id is the name of another claim of the token")
            }
        }
        return nil
    }

    /// Returns a name in bytes. Random parts are left out: names that are the same without them count as equal.
    private func name(_ parts: [TextPart], _ user: String) -> [UInt8] {
        parts.reduce(into: []) { name, part in
            switch part {
            case .constant(let text): name += text.utf8
            case .user, .userInJSON: name += user.utf8
            case .userInURL: name += PercentEncoding.encoded(user).utf8
            case .keyID, .moment, .date, .uuid: break
            }
        }
    }
}
