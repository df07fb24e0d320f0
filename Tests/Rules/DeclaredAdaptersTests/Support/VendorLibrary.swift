import Foundation
import ProgramTestSupport
import Testing

/// A vendor's own server library for Python as a second opinion on tokens: it verifies one, or makes one to compare
/// with.
enum VendorLibrary: String, CaseIterable, CustomTestStringConvertible {
    case twilio, livekit, supabase, stream
    case pusherBeams = "pusher-beams"
    case firebase = "firebase-custom-token"
    case vonage = "vonage-client"

    var testDescription: String { rawValue }

    /// The module that the library is imported as.
    private var module: String {
        switch self {
        case .twilio: "twilio.jwt.access_token"
        case .livekit: "livekit.api"
        case .supabase: "supabase_auth"
        case .stream: "stream_chat"
        case .pusherBeams: "pusher_push_notifications"
        case .firebase: "firebase_admin.auth"
        case .vonage: "vonage_jwt"
        }
    }

    /// Whether Python has the library.
    var isInstalled: Bool { Self.installed.isSuperset(of: Self.common + [module]) }

    /// The modules that the script imports for every vendor.
    private static let common = ["freezegun", "jwt", "cryptography"]
    private static let installed = PythonModules.installed(among: common + allCases.map(\.module))

    /// The tokens of a file's tests, and the key that signed them.
    struct Tokens: Encodable {
        /// A token, with the public key of an asymmetric algorithm.
        struct Token: Encodable {
            let token: String
            let pem: String?
        }

        /// The time of the tests, in Unix seconds.
        let now: Int64
        /// The shared secret as text; nil for an asymmetric algorithm.
        let secret: String?
        let tokens: [Token]
    }

    /// Returns the library's opinion on each token: what it did with it, a line each.
    func judge(_ tokens: Tokens) async throws -> [Substring] {
        // Pusher's library takes the end of a token from the local time.
        let program = try await Program.run(
            "python3", ["-W", "ignore", "-c", Self.script, rawValue], input: JSONEncoder().encode(tokens),
            environment: ["TZ": "UTC"])
        try #require(program.status == 0, "\(program.errorText.suffix(1000))")
        return program.outputText.split(separator: "\n")
    }

    private static let script = #"""
        import base64, datetime, json, sys
        from freezegun import freeze_time
        given = json.load(sys.stdin)
        secret = given.get("secret")

        def parts(token):
            texts = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in token.split(".")[:2]]
            return [json.loads(text) for text in texts]

        def same(theirs, ours):
            assert theirs == ours, f"theirs {theirs}, ours {ours}"
            return "equal"

        def without(members, *names):
            return {name: value for name, value in members.items() if name not in names}

        def spoiled(token):
            head, signature = token.rsplit(".", 1)
            return head + "." + ("B" if signature[0] != "B" else "C") + signature[1:]

        def refuses(call, *errors):
            try:
                call()
            except errors:
                return
            raise AssertionError("a bad signature was accepted")

        def fresh_key():
            from cryptography.hazmat.primitives import serialization
            from cryptography.hazmat.primitives.asymmetric import rsa
            key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
            return key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()

        def twilio(token, pem):
            from twilio.jwt import JwtDecodeError
            from twilio.jwt.access_token import AccessToken
            from twilio.jwt.access_token.grants import VideoGrant
            header, payload = parts(token)
            read = AccessToken.from_jwt(token, secret)
            same(read.payload, payload)
            refuses(lambda: AccessToken.from_jwt(spoiled(token), secret), JwtDecodeError)
            if set(payload["grants"]) != {"identity", "video"}:
                return "verified"
            made = AccessToken(
                payload["sub"], payload["iss"], secret, identity=payload["grants"]["identity"],
                ttl=payload["exp"] - given["now"], nbf=None)
            made.add_grant(VideoGrant(room=payload["grants"]["video"].get("room")))
            theirs = parts(made.to_jwt())
            # The library for Node writes iat, the one for Python does not.
            same(theirs[0], header), same(theirs[1], without(payload, "iat"))
            return "verified and equal"

        def livekit(token, pem):
            import jwt
            from livekit import api
            header, payload = parts(token)
            verifier = api.TokenVerifier(payload["iss"], secret)
            claims = verifier.verify(token)
            same(claims.identity, payload["sub"])
            video = payload.get("video", {})
            same(claims.video.room if claims.video else "", video.get("room", ""))
            refuses(lambda: verifier.verify(spoiled(token)), jwt.exceptions.InvalidTokenError)
            return "verified"

        def supabase(token, pem):
            import jwt
            from cryptography.hazmat.primitives import serialization
            from supabase_auth import SyncGoTrueClient
            from supabase_auth.errors import AuthError
            header, payload = parts(token)
            if pem is None:
                # With a shared secret the library asks the server.
                return "not judged"
            public = serialization.load_pem_public_key(pem.encode())
            algorithm = jwt.algorithms.get_default_algorithms()[header["alg"]]
            named = {"kid": header["kid"], "alg": header["alg"], "key_ops": ["verify"]}
            keys = {"keys": [{**json.loads(algorithm.to_jwk(public)), **named}]}
            client = SyncGoTrueClient(
                url="http://127.0.0.1:9", headers={}, auto_refresh_token=False, persist_session=False)
            same(client.get_claims(token, jwks=keys)["claims"], payload)
            bad = spoiled(token)
            refuses(lambda: client.get_claims(bad, jwks=keys), AuthError, jwt.exceptions.InvalidTokenError)
            return "verified"

        def stream(token, pem):
            from stream_chat import StreamChat
            header, payload = parts(token)
            client = StreamChat(api_key="key", api_secret=secret)
            theirs = client.create_token(payload["user_id"], exp=payload.get("exp"), iat=payload.get("iat"))
            return same(parts(theirs), [header, payload])

        def pusher_beams(token, pem):
            from pusher_push_notifications import PushNotifications
            header, payload = parts(token)
            if payload["exp"] - given["now"] != 86400:
                # The library's tokens live for a day.
                return "not judged"
            instance = payload["iss"].removeprefix("https://").removesuffix(".pushnotifications.pusher.com")
            client = PushNotifications(instance_id=instance, secret_key=secret)
            theirs = parts(client.generate_token(payload["sub"])["token"])
            return same(theirs, [header, without(payload, "iat")])

        def firebase_custom_token(token, pem):
            import firebase_admin, firebase_admin.auth, firebase_admin.credentials, firebase_admin.tenant_mgt
            header, payload = parts(token)
            account = {
                "type": "service_account", "project_id": "shop", "private_key_id": "x", "private_key": fresh_key(),
                "client_email": payload["iss"], "token_uri": "https://oauth2.googleapis.com/token"}
            app = firebase_admin.initialize_app(firebase_admin.credentials.Certificate(account), name=token)
            if "tenant_id" in payload:
                tenant = firebase_admin.tenant_mgt.auth_for_tenant(payload["tenant_id"], app)
                made = tenant.create_custom_token(payload["uid"], payload.get("claims"))
            else:
                made = firebase_admin.auth.create_custom_token(payload["uid"], payload.get("claims"), app)
            theirs = parts(made.decode())
            # The library for Python adds the key's id, the one for Node does not.
            same(without(theirs[0], "kid"), header)
            if payload["exp"] - payload["iat"] != 3600:
                return same(without(theirs[1], "exp"), without(payload, "exp"))
            return same(theirs[1], payload)

        def vonage_client(token, pem):
            from vonage_jwt import JwtClient
            header, payload = parts(token)
            client = JwtClient(payload["application_id"], fresh_key())
            theirs = parts(client.generate_application_jwt(without(payload, "application_id", "iat")).decode())
            return same(theirs, [header, payload])

        with freeze_time(datetime.datetime.fromtimestamp(given["now"], datetime.timezone.utc)):
            for each in given["tokens"]:
                print(globals()[sys.argv[1].replace("-", "_")](each["token"], each.get("pem")))
        """#
}
