"""What the benchmarks share: servers, load, figures of processes, tables and plots. No packages beyond Python's own."""
