/**
 * Every order of events at a source of work, up to a depth. The world has a node with two chains, one solution, and two
 * blocks of other miners. News is lost, answers come late or fail. `npm run check:states` goes deeper.
 */
import { expect, it } from 'vitest'
import { explore, type World } from '../explore.ts'
import { isFull } from '../rotation.ts'
import { SimulatedNode } from './simulated-node.ts'

const CHAINS = 2
const MAX_ADVANCES = 2
const DEPTH = isFull ? 8 : 5
/** Rounds of answers after which a world of two chains has settled. */
const ROUNDS = 12
/** Names of fields that hold times or numbers of requests and jobs; states that differ in these alone are alike. */
const PASSING = /AtMs$|SinceMs$|^everyMs$|^notBeforeMs$|^creationTime$|^nextRequest$|^nextJob$|^id$|^request$/

type Move =
  | readonly ['read' | 'answer' | 'fail' | 'advance' | 'openStream' | 'closeStream', number]
  | readonly ['hear' | 'solve' | 'overdue' | 'askForCut' | 'seeCut' | 'refreshDue']
  | readonly ['pauseOver', 'current' | 'standby']
  | readonly ['verdict', boolean, boolean]
  | readonly ['look', number]

class SmallWorld implements World<Move> {
  readonly #node = new SimulatedNode(CHAINS)
  #advances = 0
  #solutions = 0

  moves(): Move[] {
    const node = this.#node
    const asked = [...node.asked.values()]
    const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
    const each = <Name extends string>(name: Name, count: number) => numbers(count).map((i) => [name, i] as const)
    const chains = numbers(CHAINS)
    return [
      ...each('read', asked.filter(({ answer }) => answer === null).length),
      ...each('answer', asked.filter(({ answer }) => answer !== null).length),
      ...each('fail', asked.length),
      ...(this.#advances < MAX_ADVANCES ? each('advance', CHAINS) : []),
      ...chains
        .filter((chain) => node.followed.has(chain) && !node.open.has(chain))
        .map((i) => ['openStream', i] as const),
      ...[...node.open].map((i) => ['closeStream', i] as const),
      ...(node.news.length > 0 ? [['hear'] as const] : []),
      ...(node.delivered !== null && this.#solutions === 0 ? [['solve'] as const] : []),
      ...(node.delivered === null ? [] : [['refreshDue'] as const]),
      ...(node.headsSent.length === 0 ? [['askForCut'] as const] : [['seeCut'] as const]),
      ...(node.isBlockAwaited ? [['overdue'] as const] : []),
      ...(['current', 'standby'] as const).filter((of) => node.pauses.has(of)).map((of) => ['pauseOver', of] as const),
      ...(node.handedIn.length === 0
        ? []
        : ([true, false] as const).flatMap((taken) => [true, false].map((now) => ['verdict', taken, now] as const))),
      ...chains.map((best) => ['look', best] as const),
    ]
  }

  play(move: Move): void {
    const node = this.#node
    switch (move[0]) {
      case 'read':
        node.read(move[1], 0)
        return
      case 'advance':
        this.#advances++
        node.advance(move[1])
        return
      case 'solve':
        this.#solutions++
        node.solve()
        return
      case 'refreshDue':
        node.tell({ type: 'refreshDue' })
        return
      case 'pauseOver':
        node.pauseOver(move[1])
        return
      case 'verdict':
        node.verdict(move[1], move[2])
        return
      case 'look':
        node.look([move[1], 1 - move[1]])
        return
      case 'answer':
      case 'fail':
      case 'openStream':
      case 'closeStream':
        node[move[0]](move[1])
        return
      default:
        node[move[0]]()
    }
  }

  key(): string {
    const node = this.#node
    const asked = [...node.asked.values()].map(({ ask, answer }) => [ask, answer?.fields])
    const world = [node.heads, asked, [...node.open], [...node.pauses], node.news, node.headsSent, node.handedIn]
    return JSON.stringify([node.state, world, [...node.followed], this.#advances, this.#solutions], (name, value) => {
      if (PASSING.test(name) || name === 'bytes') return undefined
      if (typeof value === 'bigint') return Number(value)
      if (value instanceof Uint8Array) return value[31]
      return value instanceof Map || value instanceof Set ? [...value] : value
    })
  }

  /** Once everything has arrived, the source searches the true work. */
  finish(): void {
    this.#node.settle(0, ROUNDS)
    const { current, standby } = this.#node.state
    if (current.kind !== 'searching') throw new Error(`it ended ${current.kind}`)
    const { chainId, height } = current.job.work.fields
    expect(Number(height), 'height of the job').toBe(this.#node.heads[chainId] + 1)
    if (standby.kind !== 'ready') throw new Error(`its standby ended ${standby.kind}`)
    expect(Number(standby.work.fields.height), 'height of the standby').toBe(
      this.#node.heads[standby.work.fields.chainId] + 1,
    )
  }
}

it('a source keeps its invariants in every order of events, and ends with the true work', async () => {
  const { states, steps, byDepth } = await explore(() => new SmallWorld(), DEPTH)
  console.log(`source: ${states} states in ${steps} steps, by depth ${byDepth.join(', ')}`)
  expect(byDepth).toHaveLength(DEPTH + 1)
  // A world that allows too little proves nothing.
  expect(states).toBeGreaterThan(500)
})
