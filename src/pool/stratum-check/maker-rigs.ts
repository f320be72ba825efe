/** Names of makers whose rigs newcut knows -> their rigs, for people. */
export const makerRigs = {
  ka3: 'Antminer KA3, 2022',
  'ka3-2023': 'Antminer KA3, 2023 on',
  goldshell: 'Goldshell KD5, KD6',
  'kd-box': 'Goldshell KD-BOX',
  ibelink: 'iBeLink BM-K1, BM-K3',
  'authorize-first': 'one that authorizes first',
  farm: 'proxy of a farm, 3 users',
} as const

export type MakerName = keyof typeof makerRigs

export const makerNames = Object.keys(makerRigs) as readonly MakerName[]
