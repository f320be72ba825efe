/** Power and temperature of an NVIDIA card, as nvidia-smi tells them. */
import { spawnSync } from 'node:child_process'

export interface Sensors {
  readonly watts: number | null
  readonly celsius: number | null
}

const ARGUMENTS = ['--query-gpu=power.draw,temperature.gpu', '--format=csv,noheader,nounits']

/** null where there is no nvidia-smi, or several cards: which of them is measured is not known. */
export function readSensors(): Sensors | null {
  const { status, stdout } = spawnSync('nvidia-smi', ARGUMENTS, { encoding: 'utf8', timeout: 5000 })
  return status === 0 ? parseSensors(stdout) : null
}

/** A line of two figures a card; figures that a card does not have are words in brackets. */
export function parseSensors(output: string): Sensors | null {
  const lines = output.trim().split('\n')
  if (lines.length !== 1) return null
  const [watts, celsius] = lines[0].split(',').map((text) => {
    return /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null
  })
  return { watts: watts ?? null, celsius: celsius ?? null }
}
