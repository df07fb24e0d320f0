import Glibc

/// The settings of the process's heap.
public enum Heap {
    /// Keeps the heap from holding on to memory that nobody uses: glibc gives each of a dozen threads an arena of its own,
    /// and what one of them frees is of no use to the others. Called once, before there is much on the heap. Where the C
    /// library is another one, nothing happens.
    package static func keepSmall() {
        guard let symbol = dlsym(nil, "mallopt") else { return }
        // Its declaration is not imported: int mallopt(int param, int value), the numbers from glibc's malloc.h.
        let mallopt = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
        // M_MXFAST (1): small pieces that are freed join their neighbors at once; kept apart, they would all be joined,
        // cold, whenever a large piece is asked for.
        _ = mallopt(1, 0)
        // M_ARENA_MAX (-8): with fewer the threads wait for one another, with more each keeps what another could use.
        _ = mallopt(-8, 4)
        // M_MMAP_THRESHOLD: a fetch's answer of megabytes is given back to the system as soon as its last record is
        // settled. Without this setting, glibc raises the threshold with the first such block freed, and from then on
        // the answers lie in heaps that fragment: 140 MB become 420, in one run of four.
        _ = mallopt(-3, 512 << 10)
    }

    /// Gives freed memory back to the system, which glibc does by itself only at the end of an arena. It takes
    /// milliseconds. Where the C library is another one, nothing happens.
    package static func giveBack() {
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        // Its declaration is not imported: int malloc_trim(size_t pad).
        let trim = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)
        _ = trim(0)
    }
}
