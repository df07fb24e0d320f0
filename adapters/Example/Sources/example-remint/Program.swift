import AdapterKit
import ExampleChat
import Remint

/// The command `remint` with the adapter of Example Chat.
@main
enum Program {
    static func main() async { await RemintMain.run(adapters: [.init(ExampleChatAdapter.self)]) }
}
