/** `newcut devnet mine`, `time`, `snapshot` and so on: control requests to a running development network. */

import { NodeRefusal } from '#client/node/errors.ts'
import { type AnswerBody, Requests } from '#client/node/requests.ts'
import { countText } from '#faces/cli/line.ts'
import type { Values } from '#faces/cli/options/row.ts'
import type { controlOptions } from '#faces/cli/options/wallet.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { duration } from '#faces/cli/values.ts'
import { operatingError } from '#ground/base/errors.ts'
import { printable } from '#ground/base/printable.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { formatDuration } from '#ground/base/units.ts'
import { type ClockChange, type ClockState, controlOperations, type DevnetStatus } from '#ground/schema/control.ts'
import { operations } from '#ground/schema/operations.ts'
import type { Static } from '#ground/schema/typebox.ts'
import { commandErrors } from './input/errors.ts'
import { checkRequestKey } from './input/sender.ts'
import { chainsOf, checkChain, withNode } from './input/with-node.ts'

/** Blocks with proof of work take their time. */
const TIMEOUT_MS = 300_000

/** A node that takes control requests, and the words of the user. */
interface ControlCall {
  readonly args: readonly string[]
  readonly values: ControlValues
  /** The chains of the network, ascending. */
  readonly chains: readonly number[]
  /** Sends a control request. @throws NODE_REFUSED with the text of the node */
  readonly request: <const O extends ControlOperation>(operation: O, body?: unknown) => Promise<AnswerBody<O>>
}

type ControlOperation = (typeof controlOperations)[keyof typeof controlOperations]
type Clock = Static<typeof ClockState>
type ActiveFault = DevnetStatus['faults'][number]

/** Options of all actions; a command has some of them. */
type ControlValues = Values<Tables['status']> &
  Partial<Values<Tables['mine'] & Tables['time'] & Tables['impersonate'] & Tables['faults']>>
type Tables = typeof controlOptions

/** The answer of the node, and the lines that say it to people. */
interface ControlAnswer {
  readonly answer: unknown
  readonly lines: readonly string[]
}

type Heights = Readonly<Record<string, number>>

/** The actions, by the second word of the command. */
const actions = {
  mine: mineBlocks,
  fork: forkChain,
  snapshot: takeSnapshot,
  revert: revertTo,
  reset: resetNetwork,
  time: moveTime,
  impersonate: setImpersonation,
  drop: dropPending,
  faults: setFaults,
  status: reportStatus,
} satisfies Record<string, (call: ControlCall) => Promise<ControlAnswer>>

export type ControlAction = keyof typeof actions

/**
 * Sends the request of an action, and prints what the network did.
 * @throws NewcutError BAD_OPTION for wrong arguments, NODE_REFUSED with the reason of the network
 */
export function runControl(
  action: ControlAction,
  args: readonly string[],
  values: ControlValues,
  { out, untilStopped }: CommandContext,
): Promise<number> {
  const print = printerTo(out)
  return withNode({ values }, { untilStopped }, async (client, signal) => {
    const requests = new Requests(client.http, '')
    const request: ControlCall['request'] = async (operation, body) => {
      const call = { signal, timeoutMs: TIMEOUT_MS, ...(body !== undefined && { body }) }
      const answered = await requests.json(operation, call).catch((error: unknown) => {
        if (!(error instanceof NodeRefusal) || error.status !== 404 || error.excerpt !== '') throw error
        throw operatingError(commandErrors.noControl, undefined, error)
      })
      return answered.body
    }
    if (values.chain !== undefined) checkChain(client, values.chain, '--chain')
    const { answer, lines } = await actions[action]({ args, values, chains: chainsOf(client), request })
    if (values.json) print(JSON.stringify(answer))
    else for (const line of lines) print(line)
    return 0
  })
}

/** `heights 5 to 6`, or `height 6` */
function heightsText(heights: Heights): string {
  const values = Object.values(heights)
  const [lowest, highest] = [Math.min(...values), Math.max(...values)]
  return lowest === highest ? `height ${highest}` : `heights ${lowest} to ${highest}`
}

/** @throws BAD_OPTION for a text that is not a whole number of at least `least` */
function readCount(text: string | undefined, what: string, fallback: number, least = 1): number {
  if (text === undefined) return fallback
  const count = /^\d{1,9}$/.test(text) ? Number(text) : -1
  if (count >= least) return count
  throw operatingError(commandErrors.notACount, { what, text: printable(text), least })
}

async function mineBlocks({ args: [text], values: { chain }, chains, request }: ControlCall): Promise<ControlAnswer> {
  const count = readCount(text, 'COUNT', 1)
  const targets = chain === undefined ? chains : [chain]
  const counts = Object.fromEntries(targets.map((each) => [each, count]))
  const answer = await request(controlOperations.makeBlocks, counts)
  const total = Object.values(answer.made).reduce((sum, each) => sum + each, 0)
  const blocks = Object.values(answer.blocks).flat()
  const transactions = blocks.reduce((sum, { requestKeys }) => sum + requestKeys.length, 0)
  const grown = Object.values(answer.made).filter((each) => each > 0).length
  const held = transactions === 0 ? '' : `, with ${countText(transactions, 'transaction')}`
  const where = `on ${countText(grown, 'chain')}`
  return { answer, lines: [`made ${countText(total, 'block')} ${where}${held}; ${heightsText(answer.heights)}`] }
}

async function forkChain({ args: [text], values: { chain = 0 }, request }: ControlCall): Promise<ControlAnswer> {
  const depth = readCount(text, 'DEPTH', 1)
  const answer = await request(controlOperations.fork, { chain, depth })
  const own = answer.orphaned[chain]?.length ?? 0
  const all = Object.values(answer.orphaned).flat().length
  const others = all > own ? ` and ${all - own} of other chains` : ''
  return {
    answer,
    lines: [`replaced ${countText(own, 'block')} of chain ${chain}${others}; ${heightsText(answer.heights)}`],
  }
}

async function takeSnapshot({ request }: ControlCall): Promise<ControlAnswer> {
  const answer = await request(controlOperations.snapshot, {})
  const { id, heights } = answer
  return { answer, lines: [`snapshot ${id}, ${heightsText(heights)}; newcut devnet revert ${id} restores it`] }
}

async function revertTo({ args: [text], request }: ControlCall): Promise<ControlAnswer> {
  let id = readCount(text, 'ID', 0)
  if (id === 0) {
    const { snapshots } = await request(controlOperations.devnetStatus)
    const newest = snapshots.at(-1)
    if (newest === undefined) throw operatingError(commandErrors.noSnapshot)
    id = newest
  }
  const answer = await request(controlOperations.revert, { id })
  return { answer, lines: [`restored snapshot ${id}; ${heightsText(answer.heights)}`] }
}

async function resetNetwork({ request }: ControlCall): Promise<ControlAnswer> {
  const answer = await request(controlOperations.reset, {})
  return { answer, lines: [`the network is as at its start; ${heightsText(answer.heights)}`] }
}

async function moveTime({ args: [text], values, request }: ControlCall): Promise<ControlAnswer> {
  const { 'next-block': isForNextBlock = false } = values
  if (text === undefined) {
    const { clock } = await request(controlOperations.devnetStatus)
    return { answer: clock, lines: [clockText(clock)] }
  }
  const change = clockChange(text, isForNextBlock)
  const clock = await request(controlOperations.advanceClock, change)
  const { nextBlock } = change
  const line =
    nextBlock === undefined ? clockText(clock) : `the clock stands still at ${nextBlock} until the next block`
  return { answer: clock, lines: [line] }
}

const step = duration(1)

/** @throws BAD_OPTION for a text that is neither a step such as +1h nor a time */
function clockChange(text: string, isForNextBlock: boolean): Static<typeof ClockChange> {
  const [, sign, length] = /^([+-])(.+)$/.exec(text) ?? []
  const ms = length === undefined ? undefined : step.parse(length)
  if (ms !== undefined && !isForNextBlock) return { advanceMs: sign === '-' ? -ms : ms }
  if (sign === undefined && !Number.isNaN(Date.parse(text))) {
    const time = new Date(text).toISOString()
    return isForNextBlock ? { nextBlock: time } : { to: time }
  }
  throw operatingError(commandErrors.notATime, { text: printable(text) })
}

/** The clock of the network, and how far it is from that of the machine. */
function clockText({ nowMs, aheadMs, everyMs }: Clock): string {
  const away =
    Math.abs(aheadMs) < 1000 ? '' : `, ${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead' : 'behind'}`
  const moved = everyMs === undefined ? '' : `; each block moves it by ${formatDuration(everyMs)}`
  return `the clock shows ${new Date(nowMs).toISOString()}${away}${moved}`
}

async function setImpersonation({ args, values: { off = false }, request }: ControlCall): Promise<ControlAnswer> {
  const body = { keys: args, on: !off }
  const answer = await request(controlOperations.impersonate, body)
  const { keys } = answer
  if (keys.length === 0) return { answer, lines: ['the node checks all signatures'] }
  const whose = keys.includes('*') ? 'of any key' : `of ${keys.join(', ')}`
  return { answer, lines: [`the node checks no signatures ${whose}`] }
}

async function dropPending({ args, request }: ControlCall): Promise<ControlAnswer> {
  for (const requestKey of args) checkRequestKey(requestKey, 'devnet drop')
  const answer = await request(controlOperations.drop, args.length === 0 ? { all: true } : { requestKeys: args })
  const rows = Object.entries(answer.dropped).flatMap(([chain, keys]) =>
    keys.map((key) => `dropped ${key} on chain ${chain}`),
  )
  const missing = answer.notPending.map((key) => `${key} was not pending`)
  const lines = [...rows, ...missing]
  return { answer, lines: lines.length > 0 ? lines : ['no transaction was pending'] }
}

async function setFaults({ args: [operation, text], values, request }: ControlCall): Promise<ControlAnswer> {
  if (operation === undefined) {
    const { faults } = await request(controlOperations.devnetStatus)
    return { answer: { faults }, lines: faultLines(faults) }
  }
  const names = Object.keys({ ...operations, ...controlOperations })
  if (!names.includes(operation)) {
    const guess = suggestName(operation, names)
    throw operatingError(commandErrors.noSuchOperation, { operation: printable(operation), guess })
  }
  const count = readCount(text, 'COUNT', 1, 0)
  const { status, delay, body } = values
  if (count > 0 && (status ?? body ?? delay) === undefined) {
    throw operatingError(commandErrors.faultWithoutEffect, { operation })
  }
  const fault = {
    operation,
    count,
    ...(status !== undefined && { status }),
    ...(body !== undefined && { body }),
    ...(delay !== undefined && { delayMs: delay }),
  }
  const answer = await request(controlOperations.setFault, fault)
  return { answer, lines: faultLines(answer.faults) }
}

function faultLines(faults: readonly ActiveFault[]): string[] {
  if (faults.length === 0) return ['all endpoints work']
  return faults.map(({ operation, count, status, body, delayMs }) => {
    const parts = [
      ...(status === undefined ? [] : [`status ${status}`]),
      ...(body === undefined ? [] : ['a body of the fault']),
      ...(delayMs === undefined ? [] : [`a delay of ${formatDuration(delayMs)}`]),
    ]
    return `${operation}: ${parts.join(' and ')} for the next ${countText(count, 'call')}`
  })
}

async function reportStatus({ request }: ControlCall): Promise<ControlAnswer> {
  const answer = await request(controlOperations.devnetStatus)
  const { heights, paused, faults, clock, snapshots, impersonated } = answer
  const lines = [
    `${countText(Object.keys(heights).length, 'chain')}, ${heightsText(heights)}; ${answer.mode}`,
    clockText(clock),
    ...(paused.length > 0 ? [`paused: chain ${paused.join(', ')}`] : []),
    ...(faults.length > 0 ? faultLines(faults) : []),
    ...(snapshots.length > 0 ? [`snapshots: ${snapshots.join(', ')}`] : []),
    ...(impersonated.length > 0 ? [`impersonation: ${impersonated.join(', ')}`] : []),
  ]
  return { answer, lines }
}
