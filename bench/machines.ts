/** The rank of a machine among those of docs/SPEED.md. */
import { figure } from './report.ts'

export interface Machine {
  readonly name: string
  /** Its fastest kernel. */
  readonly kernel: string
  /** Lowest and highest measured MH/s of one core. */
  readonly from: number
  readonly to: number
}

/** The first table of docs/SPEED.md, the fastest first. */
export const machines: readonly Machine[] = [
  { name: 'AMD Zen 5', kernel: 'AVX-512', from: 219, to: 239 },
  { name: 'AMD Zen 4', kernel: 'AVX-512', from: 97, to: 132 },
  { name: 'Intel Xeon at 2.5 GHz', kernel: 'AVX-512', from: 84.9, to: 87.1 },
  { name: 'AMD Zen 3, in quiet moments', kernel: 'AVX2', from: 61, to: 63 },
  { name: 'AMD Zen 3, with a busy neighbour', kernel: 'AVX2', from: 43, to: 50.2 },
]

/**
 * Lines of a table that has this machine in its place.
 * @param rate MH/s of one core
 * @param kernel name of its fastest kernel
 */
export function rankAmongMachines(rate: number, kernel: string): string[] {
  const rows = machines.map(({ name, kernel: fastest, from, to }) => {
    return { middle: (from + to) / 2, mark: ' ', cells: [`${figure(from)} to ${figure(to)}`, `${name}, ${fastest}`] }
  })
  const here = { middle: rate, mark: '>', cells: [figure(rate), `this machine, ${kernel}`] }
  const sorted = [...rows, here].sort((a, b) => b.middle - a.middle)
  const width = Math.max(...sorted.map(({ cells }) => cells[0].length))
  return [
    'the fastest kernel of one core, in MH/s, beside the machines in docs/SPEED.md:',
    ...sorted.map(({ mark, cells: [figures, name] }) => `${mark} ${figures.padEnd(width)}  ${name}`),
  ]
}
