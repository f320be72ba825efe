/** The virtual clock of the benchmarks, for tests. */
export { settle, VirtualClock } from '../../bench/rigs/virtual-clock.ts'
