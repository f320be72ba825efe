/** Rated hash rates of the ASICs that mine these networks, in one place: for checks, benchmarks and docs/RIGS.md. */

export interface RigRate {
  readonly name: string
  readonly kind: RigKind
  /** Hashes a second. */
  readonly rate: number
}

/** Rigs that log in alike. */
export type RigKind = 'antminer' | 'goldshell' | 'kd-box' | 'ibelink'

const TERA = 1e12

/** From the slowest to the fastest. */
export const rigRates: readonly RigRate[] = [
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

/** Chips of ASICs report hashes with 40 zero bits or more, whatever easier target they are told. */
export const LEAST_ASIC_SHARE = 2 ** 40

/** An Antminer KA3 counts to 256 on three boards that share the counter, 11.67 ms a value: then it begins again. */
export const KA3_HEADER_MS = (256 * 11.67) / 3
/** With five bytes of nonce2 its boards search the same nonces, and a header lasts two pushes. */
export const KA3_SHORT_HEADER_MS = 20

/** Seconds that a share takes on average at this rate; `difficulty`: hashes that it takes. */
export const secondsPerShare = (difficulty: number, rate: number): number =>
  Math.max(LEAST_ASIC_SHARE, difficulty) / rate
