/** Faults of a simulation: each begins, lasts for a while, and ends. */
import { type AnswerFaultKind, answerFaultKinds } from './answer-faults.ts'
import type { EmbeddedNode } from './embedded-node.ts'
import { type Network, streamModes } from './network.ts'
import type { VirtualTime } from './virtual-time.ts'

/** The parts of a simulation that faults act on. */
export interface World {
  readonly time: VirtualTime
  readonly network: Network
  readonly node: EmbeddedNode
  /** A node of another network; the name of the network may be the same. */
  readonly otherNode: () => EmbeddedNode
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Reports work that takes more than a moment, such as a reorganisation. Virtual time waits for it. */
  readonly during: (work: Promise<unknown>) => void
}

interface Fault {
  readonly name: string
  readonly longestMs: number
  /** Begins the fault. @returns a function that ends it */
  readonly begin: (world: World) => () => void
}

export const families = ['answers', 'connections', 'streams', 'chains', 'outages', 'everything'] as const
export type Family = (typeof families)[number]

const ENDPOINTS = ['/mining/work', '/mining/solved', '/mining/updates', '/cut', '/hash/branch', '/header/']

export function pick<T>(random: () => number, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)]
}

/** A property that faults have changed: its value without faults, and the values of active faults, newest last. */
interface Changed {
  readonly before: unknown
  readonly values: { readonly value: unknown }[]
}

const changes = new WeakMap<object, Map<PropertyKey, Changed>>()

/** Changes a property while a fault lasts. Faults may end in any order. @returns a function that ends the change */
export function sets<T extends object, K extends keyof T>(target: T, key: K, value: T[K]): () => void {
  const ofTarget = changes.get(target) ?? new Map<PropertyKey, Changed>()
  changes.set(target, ofTarget)
  const changed = ofTarget.get(key) ?? { before: target[key], values: [] }
  ofTarget.set(key, changed)
  const own = { value }
  changed.values.push(own)
  target[key] = value
  return () => {
    changed.values.splice(changed.values.indexOf(own), 1)
    target[key] = (changed.values.at(-1) ?? { value: changed.before }).value as T[K]
  }
}

/** Runs a function periodically. @returns a function that stops it */
function every(world: World, everyMs: number, run: () => void): () => void {
  let isOver = false
  const again = () => {
    if (isOver) return
    run()
    world.time.after(everyMs, again)
  }
  again()
  return () => {
    isOver = true
  }
}

/** Spoils some or all answers of some or all endpoints. */
function answers(kinds: readonly AnswerFaultKind[]): Fault['begin'] {
  return ({ network, random }) => {
    const share = pick(random, [0.1, 0.5, 1])
    const endpoints = random() < 0.5 ? ENDPOINTS : [pick(random, ENDPOINTS)]
    return sets(network, 'answerFault', ({ url }, dice) => {
      const isMeant = endpoints.some((part) => url.includes(part))
      return isMeant && dice() < share ? pick(dice, kinds) : null
    })
  }
}

/** The node goes away and forgets its miners. */
function restart(goneMs: number): Fault['begin'] {
  return ({ network, node }) => {
    const back = sets(network, 'host', null)
    network.resetAll()
    if (goneMs > 0)
      return () => {
        node.restart()
        back()
      }
    node.restart()
    back()
    return () => undefined
  }
}

const faults: Readonly<Record<Exclude<Family, 'everything'>, readonly Fault[]>> = {
  answers: [
    ...answerFaultKinds.map((kind) => ({ name: kind, longestMs: 8_000, begin: answers([kind]) })),
    { name: 'any answer', longestMs: 8_000, begin: answers(answerFaultKinds) },
  ],
  connections: [
    {
      name: 'latency',
      longestMs: 10_000,
      begin: ({ network, random }) => sets(network, 'latencyMs', [0, pick(random, [200, 1_000, 3_000])]),
    },
    {
      name: 'resets',
      longestMs: 5_000,
      begin: (world) => every(world, pick(world.random, [50, 300, 2_000]), () => world.network.resetAll()),
    },
    {
      name: 'half-open connections',
      longestMs: 3_000,
      begin: ({ network }) => {
        network.cutCables()
        return () => undefined
      },
    },
    {
      name: 'silence',
      longestMs: 10_000,
      begin: ({ network }) => {
        network.cutCables()
        return sets(network, 'dialMode', 'silent')
      },
    },
  ],
  streams: [
    ...streamModes.map((mode) => ({
      name: `streams: ${mode}`,
      longestMs: mode === 'flood' ? 2_000 : 12_000,
      begin: ({ network }: World) => sets(network, 'streamMode', mode),
    })),
    {
      name: 'streams end',
      longestMs: 5_000,
      begin: (world) => every(world, pick(world.random, [100, 1_500]), () => world.node.endStreams()),
    },
  ],
  chains: [
    {
      name: 'reorganisation',
      longestMs: 1_000,
      begin: ({ node, random, during }) => {
        const chain = Math.floor(random() * node.cut.size)
        during(node.reorganise(chain, pick(random, [1, 2, 5, 30])))
        return () => undefined
      },
    },
    {
      name: 'reorganisations',
      longestMs: 5_000,
      begin: (world) =>
        every(world, 700, () => {
          const { node, random } = world
          world.during(node.reorganise(Math.floor(random() * node.cut.size), 1 + Math.floor(random() * 4)))
        }),
    },
    {
      name: 'many blocks at once',
      longestMs: 1_000,
      begin: ({ node }) => {
        for (let i = 0; i < 30; i++) node.mineElsewhere()
        return () => undefined
      },
    },
    {
      name: 'clock of the node',
      longestMs: 10_000,
      begin: ({ node, random }) => sets(node, 'aheadMs', random() < 0.5 ? 60_000 : -60_000),
    },
    {
      name: 'clock of the miner',
      longestMs: 10_000,
      begin: ({ time, random }) => sets(time, 'minerAheadMs', random() < 0.5 ? 60_000 : -60_000),
    },
  ],
  outages: [
    { name: 'restart at once', longestMs: 500, begin: restart(0) },
    { name: 'node gone', longestMs: 15_000, begin: restart(1) },
    {
      name: 'another network',
      longestMs: 10_000,
      begin: ({ network, otherNode, random }) => {
        const back = sets(network, 'host', otherNode())
        if (random() < 0.7) network.resetAll()
        return () => {
          back()
          network.resetAll()
        }
      },
    },
    {
      name: 'nothing goes through',
      longestMs: 15_000,
      begin: ({ network }) => {
        network.cutCables()
        return sets(network, 'dialMode', 'silent')
      },
    },
  ],
}

/** Faults of a node that gives no work and is otherwise well. */
const NO_WORK: readonly AnswerFaultKind[] = ['ignored', 'failed5xx', 'refused4xx', 'empty', 'garbage', 'notHttp']

const noWork: Omit<Fault, 'longestMs'> = {
  name: 'no work',
  begin: ({ network, random }) => {
    const kind = pick(random, NO_WORK)
    return sets(network, 'answerFault', ({ url }) => (url.includes('/mining/work') ? kind : null))
  },
}

/** Faults that make a node useless as long as they last: work must come from another node. */
const outages = faults.outages.filter(({ name }) => name !== 'restart at once')

/** Makes a node useless for 6 to 9 s. */
export function uselessPlanOf(random: () => number, fromMs: number): PlannedFault {
  const { name, begin } = random() < 0.5 ? noWork : pick(random, outages)
  const startMs = fromMs + random() * 2_000
  return { name, begin, fromMs: startMs, toMs: startMs + 6_000 + random() * 3_000 }
}

/** A fault of a simulation, with its times. */
export interface PlannedFault {
  readonly name: string
  readonly fromMs: number
  readonly toMs: number
  readonly begin: Fault['begin']
}

/** One to three faults of a family. They may overlap, but no two have the same name. */
export function planOf(
  family: Family,
  random: () => number,
  { fromMs, lastMs, without = [] }: { readonly fromMs: number; readonly lastMs: number; readonly without?: string[] },
): PlannedFault[] {
  const all = family === 'everything' ? Object.values(faults).flat() : faults[family]
  const choice = all.filter(({ name }) => !without.includes(name))
  const planned = new Map<string, PlannedFault>()
  const count = 1 + Math.floor(random() * 3)
  for (let i = 0; i < count; i++) {
    const { name, longestMs, begin } = pick(random, choice)
    const startMs = fromMs + random() * (lastMs - fromMs) * 0.5
    const endMs = Math.min(lastMs, startMs + 100 + random() * longestMs)
    planned.set(name, { name, fromMs: startMs, toMs: endMs, begin })
  }
  return [...planned.values()]
}
