// Does one thing so many times and prints nothing: valgrind counts what it takes. What the hot path consists of and nothing
// else is linked, so that it is built in a minute.
//
//     instructions mint ALGORITHM KEYFILE COUNT
//     instructions decode VENDOR COUNT

import AdapterKit
import Bench
import Vendors

func run(_ arguments: [String]) throws {
    switch (arguments.first, arguments.count) {
    case ("mint", 4):
        guard let count = Int(arguments[3]) else { throw BenchFailed("COUNT is a number") }
        try MintLoop(BenchApp(arguments[1]), key: arguments[2]).work()(count)
    case ("decode", 3):
        guard let count = Int(arguments[2]),
            let registration = AdapterRegistry.remint.registrations.first(where: { $0.name == arguments[1] })
        else { throw BenchFailed("there is no such vendor, or COUNT is no number") }
        for loop in try DecodeLoop.all(of: registration) { try loop.work(count) }
    default: throw BenchFailed("instructions mint ALGORITHM KEYFILE COUNT | instructions decode VENDOR COUNT")
    }
}

try run(Array(CommandLine.arguments.dropFirst()))
