/** Formats the state of a miner for the scripts of mining operating systems. */

import { failedOf } from '#ground/chain/solution.ts'
import type { HardwareSnapshot } from '#mining/mine/hardware.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import { ALGORITHM } from './summary.ts'

/** `/hiveos`: the output of h-stats.sh. Lists have an entry per device, null if unknown. */
export function hiveStats({ hardware, uptimeMs, solutions }: Snapshot, version: string) {
  return {
    hs: hardware.map(({ hashrates: { '10s': rate } }) => (rate === null ? null : Math.round(rate) / 1000)),
    hs_units: 'khs',
    temp: hardware.map(({ celsius }) => wholeOf(celsius)),
    fan: hardware.map(({ fanPercent }) => wholeOf(fanPercent)),
    uptime: Math.floor(uptimeMs / 1000),
    ver: version,
    ar: [solutions.accepted, failedOf(solutions)],
    algo: ALGORITHM,
    bus_numbers: hardware.map(busOf),
  }
}

/** `/mmpos`: the output of mmp-stats.sh. The CPU comes first; `air` is accepted, invalid, rejected, as text. */
export function mmpStats({ hardware, solutions, hardwareErrors }: Snapshot, version: string) {
  return {
    busid: hardware.map((part) => (part.engine === 'gpu' ? busOf(part) : 'cpu')),
    hash: hardware.map(({ hashrates: { '10s': rate } }) => wholeOf(rate)),
    units: 'hs',
    air: [solutions.accepted, hardwareErrors, failedOf(solutions)].map(String),
    shares: {
      accepted: hardware.map((part) => part.solutions.accepted),
      rejected: hardware.map((part) => failedOf(part.solutions)),
      invalid: hardware.map((part) => part.hardwareErrors),
    },
    miner_name: 'newcut',
    miner_version: version,
  }
}

const wholeOf = (figure: number | null) => (figure === null ? null : Math.round(figure))

/** PCI bus number of a card. */
function busOf({ pci }: HardwareSnapshot): number | null {
  return pci === null ? null : Number.parseInt(pci, 16)
}
