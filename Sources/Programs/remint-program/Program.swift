import Remint

/// The program `remint`. It has the shipped adapters alone; its commands are in the library.
@main
enum Program {
    static func main() async { await RemintMain.run() }
}
