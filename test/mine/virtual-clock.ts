/** The clock of benchmarks on virtual time, which tests move on. */
export { settle, VirtualClock } from '../../bench/rigs/virtual-clock.ts'
