/// The metrics of the process itself, under the names that Prometheus' client libraries use. They are read when somebody
/// reads the metrics, and never for an event.
public enum ProcessMetrics {
    /// Adds the families to `registry`.
    public static func expose(in registry: MetricsRegistry) {
        let processor = registry.counter("process_cpu_seconds_total", "Processor time of the process, in seconds.")
        let resident = registry.gauge("process_resident_memory_bytes", "Resident memory of the process, in bytes.")
        let virtual = registry.gauge("process_virtual_memory_bytes", "Virtual memory of the process, in bytes.")
        let open = registry.gauge("process_open_fds", "Open files and sockets of the process.")
        let most = registry.gauge("process_max_fds", "Limit on the open files and sockets of the process.")
        let start = registry.gauge(
            "process_start_time_seconds", "Time at which the process started, in seconds since 1970.")
        let threads = registry.gauge("process_threads", "Threads of the process.")
        registry.beforeReading {
            if let figures = ProcessFigures.read() {
                processor.raise(to: figures.processorSeconds)
                resident.set(figures.residentBytes)
                virtual.set(figures.virtualBytes)
                threads.set(Double(figures.threads))
                if let moment = figures.start { start.set(moment) }
            }
            if let count = ProcessFigures.openFiles() { open.set(Double(count)) }
            if let limit = ProcessFigures.fileLimit() { most.set(limit) }
        }
    }
}
