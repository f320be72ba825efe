/** Limits of a hostile command. */
export const GAS_LIMIT = 150_000
export const MAX_CPU_MS = 2000
export const MAX_MEMORY_MIB = 512
export const MAX_WRITTEN_MIB = 128
