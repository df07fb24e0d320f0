import AdapterKit

/// The e-mail addresses and phone numbers that the app's backend lets a user's device add.
struct GrantedSubscriptions {
    /// The claim, and the member of `vouched` it is granted under.
    static let name = "subscriptions"
    /// More are no user's, and a token must fit into a request's header.
    private static let most = 20
    private static let longestAddress = 320

    /// The claim's JSON.
    let claim: [UInt8]

    /// - Throws: `Rejection` with `.malformedEvent`.
    init(_ granted: JSONValue) throws(Rejection) {
        let pairs = granted.elements
        guard granted.isArray, 1...Self.most ~= pairs.count else { throw Self.refusal }
        var json = JSONWriter(capacity: 64)
        json.beginArray()
        for pair in pairs {
            guard pair.isObject, pair.members.count == 2, let type = pair["type"]?.string,
                type == "Email" || type == "SMS", let address = pair["token"]?.string,
                1...Self.longestAddress ~= address.utf8.count
            else { throw Self.refusal }
            json.beginObject()
            json.member("type", type)
            json.member("token", address)
            json.endObject()
        }
        json.endArray()
        claim = json.bytes
    }

    private static let refusal = Rejection(
        .malformedEvent,
        "\"vouched.subscriptions\" must be up to \(most) objects of a \"type\" (Email or SMS) and a \"token\", the address"
    )
}
