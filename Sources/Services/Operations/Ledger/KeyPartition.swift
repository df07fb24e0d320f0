/// The partition to which workers send a record, by its key: that of `murmur2_random`, the partitioner of Kafka's Java
/// clients (`KafkaProperties`).
enum KeyPartition {
    /// Returns the partition of `key` on a topic with `count` partitions.
    static func of(_ key: [UInt8], count: Int) -> Int32 {
        guard count > 0 else { return 0 }
        return Int32(truncatingIfNeeded: (murmur2(key) & 0x7fff_ffff) % UInt32(clamping: count))
    }

    /// Returns MurmurHash2 of `bytes` with Kafka's seed.
    static func murmur2(_ bytes: [UInt8]) -> UInt32 {
        let factor: UInt32 = 0x5bd1_e995
        var hash = 0x9747_b28c ^ UInt32(truncatingIfNeeded: bytes.count)
        var place = 0
        while place + 4 <= bytes.count {
            var word =
                UInt32(bytes[place]) | UInt32(bytes[place + 1]) << 8 | UInt32(bytes[place + 2]) << 16
                | UInt32(bytes[place + 3]) << 24
            word = word &* factor
            word ^= word >> 24
            hash = (hash &* factor) ^ (word &* factor)
            place += 4
        }
        if place < bytes.count {
            for (shift, byte) in bytes[place...].enumerated() { hash ^= UInt32(byte) << (8 * UInt32(shift)) }
            hash = hash &* factor
        }
        hash ^= hash >> 13
        hash = hash &* factor
        return hash ^ hash >> 15
    }
}
