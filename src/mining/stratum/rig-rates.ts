/** Rated hashrates of the ASICs for these networks, for checks, benchmarks and docs/RIGS.md. */

interface RigHashrate {
  readonly name: string
  readonly kind: RigKind
  /** Hashes per second. */
  readonly rate: number
}

/** Families of rigs with the same login. */
export type RigKind = 'antminer' | 'goldshell' | 'kd-box' | 'ibelink'

const TERA = 1e12

/** In ascending order of hashrate. */
export const rigRates: readonly RigHashrate[] = [
  { name: 'KD-BOX', kind: 'kd-box', rate: 1.6 * TERA },
  { name: 'KD-BOX Pro', kind: 'kd-box', rate: 2.6 * TERA },
  { name: 'KD-BOX II', kind: 'kd-box', rate: 5 * TERA },
  { name: 'BM-K1', kind: 'ibelink', rate: 5.3 * TERA },
  { name: 'KD2', kind: 'goldshell', rate: 6 * TERA },
  { name: 'BM-K1+', kind: 'ibelink', rate: 15 * TERA },
  { name: 'KD Lite', kind: 'goldshell', rate: 16.2 * TERA },
  { name: 'KD5', kind: 'goldshell', rate: 18 * TERA },
  { name: 'KD6-SE', kind: 'goldshell', rate: 25 * TERA },
  { name: 'KD6', kind: 'goldshell', rate: 29.2 * TERA },
  { name: 'BM-K1 Max', kind: 'ibelink', rate: 32 * TERA },
  { name: 'KD Max', kind: 'goldshell', rate: 40.2 * TERA },
  { name: 'BM-K3', kind: 'ibelink', rate: 70 * TERA },
  { name: 'Antminer KA3', kind: 'antminer', rate: 166 * TERA },
]

/** ASIC chips report only hashes with at least 40 zero bits, even for easier targets. */
const MIN_ASIC_DIFFICULTY = 2 ** 40

/**
 * Time in which an Antminer KA3 exhausts a header, in milliseconds. Its three boards share a counter of 256 values at
 * 11.67 ms each.
 */
export const KA3_HEADER_MS = (256 * 11.67) / 3
/** The same with five bytes of nonce2: all boards search the same nonces, and a header lasts for two pushes. */
export const KA3_SHORT_HEADER_MS = 20

/**
 * Average number of seconds per share at this rate.
 * @param difficulty average number of hashes per share
 */
export const secondsPerShare = (difficulty: number, rate: number): number =>
  Math.max(MIN_ASIC_DIFFICULTY, difficulty) / rate
