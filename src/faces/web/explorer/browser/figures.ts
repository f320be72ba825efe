/** Shows the figures at the top: height, block rate, pending transactions, difficulty. */
import { withPrefix } from '#ground/base/units.ts'
import { write } from '../../kit/dom.ts'
import { groupDigits } from '../../kit/numbers.ts'
import type { NodeState } from './state.ts'

const MINUTE_MS = 60_000

export function showNetwork({ view: { network } }: NodeState): void {
  const { name, product, version } = network
  write('version', `newcut ${version} · paths begin with /${product}/0.0/${name}`)
}

/** @param nowMs the node's clock */
export function showNumbers(state: NodeState, nowMs: number): void {
  const { heads, pool, network } = state.view
  const { highest, lowest } = state
  write('height', highest === lowest ? groupDigits(highest) : `${groupDigits(lowest)}–${groupDigits(highest)}`)
  write(
    'pace',
    paceText(
      [...state.blocks.values()].map(({ createdMs }) => createdMs),
      nowMs,
    ),
  )
  write('pending', groupDigits(pool.sizes.reduce((a, b) => a + b, 0)))
  const difficulties = heads.map(({ difficulty }) => Number(difficulty))
  const [least, most] = [Math.min(...difficulties), Math.max(...difficulties)].map(withPrefix)
  write('difficulty', least === most ? least : `${least}–${most}`)
  write('difficulty-note', network.pow ? 'hashes per block' : 'hashes per block, without proof of work')
}

/** Blocks in the last minute; a lower bound when the list holds less than a minute. */
function paceText(createdMs: readonly number[], nowMs: number): string {
  const inMinute = createdMs.filter((each) => each > nowMs - MINUTE_MS && each <= nowMs + MINUTE_MS)
  const isAll = createdMs.some((each) => each <= nowMs - MINUTE_MS)
  return isAll || inMinute.length < 500 ? groupDigits(inMinute.length) : `over ${groupDigits(inMinute.length)}`
}
