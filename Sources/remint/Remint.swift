import ArgumentParser
@main struct Remint: ParsableCommand { func run() {} }
