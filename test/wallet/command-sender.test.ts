/** The delivery of commands to a node that does not always answer, with scripted answers on virtual time. */
import { describe, expect, it } from 'vitest'
import { NodeRefusal } from '../../src/client/node/errors.ts'
import { UnreachableError } from '../../src/client/node/unreachable.ts'
import { waitForResult } from '../../src/client/node/wait-for.ts'
import { type CommandRequest, CommandSender, type CommandStep } from '../../src/client/wallet/command-sender.ts'
import { knownKey } from '../../src/client/wallet/known-keys.ts'
import type { WalletNode } from '../../src/client/wallet/wallet-node.ts'
import type { CommandResult } from '../../src/ground/schema/command-bodies.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'

const HASH = 'H'.repeat(43)
const away = new UnreachableError('refused', 'http://node: connection refused')
const refusal = (excerpt: string, serverMs: number | null = null) =>
  new NodeRefusal({ url: 'http://node/x', status: 400, excerpt, operation: 'send', isFromNode: true, serverMs })

/** Answers of the node to each send and poll in turn; the last one repeats. `true` means accepted, or a result. */
interface Answers {
  readonly local?: CommandResult['result']
  readonly send?: readonly (true | Error)[]
  readonly poll?: readonly (true | null | Error)[]
  readonly result?: CommandResult['result']
}

const success = { status: 'success', data: 3 } as const

function commandSenderOf({ local = success, send = [true], poll = [true], result = success }: Answers) {
  const clock = new VirtualClock()
  const steps: CommandStep[] = []
  const sent: string[] = []
  const commands: string[] = []
  const metaData = { blockHeight: 7, blockTime: 0, blockHash: HASH, prevBlockHash: HASH }
  const resultOf = (key: string, outcome: CommandResult['result']) => ({
    gas: 5,
    result: outcome,
    reqKey: key,
    metaData,
  })
  let polls = 0
  const turn = <T>(answers: readonly (T | Error)[], i: number): T => {
    const answer = answers[Math.min(i, answers.length - 1)]
    if (answer instanceof Error) throw answer
    return answer
  }
  const node = {
    info: { nodeVersion: 'development' },
    local: async (_chain: number, { hash }: { hash: string }) => ({ ...resultOf(hash, local), preflightWarnings: [] }),
    send: async (_chain: number, [{ hash, cmd }]: readonly { hash: string; cmd: string }[]) => {
      sent.push(hash)
      commands.push(cmd)
      turn(send, sent.length - 1)
      return [hash]
    },
    poll: async (_chain: number, [key]: readonly string[]) =>
      new Map(turn(poll, polls++) === true ? [[key, resultOf(key, result)]] : []),
    cut: async () => ({ hashes: {} }),
    waitFor: (chain: number, requestKey: string, options: Parameters<typeof waitForResult>[2]) =>
      waitForResult(node as never, { chain, requestKey }, options, { clock, random: () => 0.5 }),
  }
  const controller = new AbortController()
  const commandSender = new CommandSender(node as unknown as WalletNode, {
    terms: { gasLimit: 2500, gasPrice: '0.00000001', ttlMs: 60_000 },
    depth: 0,
    clock,
    signal: controller.signal,
    onStep: (step) => void steps.push(step),
  })
  return { commandSender, clock, steps, sent, commands, controller }
}

const key = knownKey('sender00')?.key
if (key === undefined) throw new Error('no key sender00')
const request: CommandRequest = {
  chain: 0,
  payload: { code: '(+ 1 2)', data: '{}' },
  sender: 'sender00',
  keys: [key],
  capabilities: [],
}

/** Runs the request for at most ten minutes. @returns its result or error */
async function carriedOut({ commandSender, clock }: ReturnType<typeof commandSenderOf>) {
  const done = commandSender.submitAndWait(request).catch((error: unknown) => error)
  await clock.pass(600_000)
  return done
}

const typesOf = (steps: readonly CommandStep[]) =>
  steps.map((step) => (step.type === 'sent' && step.again ? 'again' : step.type))

describe('a command', () => {
  it('a command is preflighted and sent, and its result is awaited', async () => {
    const all = commandSenderOf({ poll: [null, true] })
    expect(await carriedOut(all)).toMatchObject({ result: success })
    expect(typesOf(all.steps)).toEqual(['tried', 'sent', 'pending', 'included'])
  })

  it('a command that would fail is not sent', async () => {
    const error = { message: 'Insufficient funds', type: 'TxFailure', info: 'coin.debit:12' }
    const all = commandSenderOf({ local: { status: 'failure', error } })
    expect(await carriedOut(all)).toMatchObject({
      code: 'COMMAND_FAILED',
      message: 'it would fail on chain 0: Insufficient funds (in coin.debit, line 13)',
    })
    expect(all.sent).toEqual([])
  })

  it('a command that fails in its block is an error', async () => {
    const all = commandSenderOf({ result: { status: 'failure', error: { message: 'no' } } })
    expect(await carriedOut(all)).toMatchObject({ code: 'COMMAND_FAILED', message: 'it failed on chain 0: no' })
  })

  it('a command is resent unchanged while nobody answers', async () => {
    const all = commandSenderOf({ send: [away, away, true] })
    expect(await carriedOut(all)).toMatchObject({ result: success })
    expect(typesOf(all.steps)).toEqual(['tried', 'trouble', 'trouble', 'sent', 'included'])
    expect(new Set(all.sent).size).toBe(1)
  })

  it('a command has arrived if the node knows it already, because an answer was lost', async () => {
    const known = refusal('Transaction "x" at index 0 failed with: Transaction already exists on chain')
    expect(await carriedOut(commandSenderOf({ send: [away, known] }))).toMatchObject({ result: success })
    expect(await carriedOut(commandSenderOf({ send: [known] }))).toMatchObject({ code: 'NODE_REFUSED' })
  })

  it('the error warns that a command may have arrived if no node answers it', async () => {
    const all = commandSenderOf({ send: [away] })
    expect(await carriedOut(all)).toMatchObject({
      code: 'NODE_UNREACHABLE',
      hint: `the command may have arrived: newcut result ${all.sent[0]} shows its result`,
    })
    expect(all.sent).toHaveLength(5)
  })

  it('a command is resent to a node that was away and has forgotten it', async () => {
    const all = commandSenderOf({ poll: [null, away, away, null, null, true] })
    expect(await carriedOut(all)).toMatchObject({ result: success })
    expect(typesOf(all.steps)).toEqual(['tried', 'sent', 'pending', 'trouble', 'pending', 'again', 'included'])
    expect(all.sent.length).toBe(2)
    expect(new Set(all.sent).size).toBe(1)
  })

  it('a command is awaited only while blocks may take it', async () => {
    const all = commandSenderOf({ poll: [null] })
    expect(await carriedOut(all)).toMatchObject({ code: 'NO_RESULT', message: expect.stringContaining('after 2 m') })
  })

  it('the wait for a command ends with the reason of the signal', async () => {
    const all = commandSenderOf({ poll: [null] })
    const reason = new Error('stopped')
    all.clock.after(5000, () => all.controller.abort(reason))
    expect(await carriedOut(all)).toBe(reason)
  })

  it.each([
    ['Metadata validation failed: ["Transaction Gas limit exceeds block gas limit"]', /`gasLimit`/],
    [
      'One or more transactions were invalid: Transaction "key" at index 0 failed with: Transaction time-to-live is expired',
      /`ttl` is at most 48h/,
    ],
    ['Transaction gas price (1e-9) is below minimum gas price (1e-8)', /`gasPrice`/],
    ['Attempt to buy gas failed with: Failed to buy gas: Insufficient funds', /the sender has too few coins/],
  ])('a command that is refused with %s comes with a hint', async (text, hint) => {
    expect(await carriedOut(commandSenderOf({ send: [refusal(text)] }))).toMatchObject({
      hint: expect.stringMatching(hint),
    })
  })

  describe('whose time the node refuses', () => {
    const HOUR_MS = 3_600_000
    const early = 'Transaction creation time too far in the future'
    const late =
      'One or more transactions were invalid: Transaction "k" at index 0 failed with: Transaction time-to-live is expired'
    const timesOf = (commands: readonly string[]) =>
      commands.map((cmd) => (JSON.parse(cmd) as { meta: { creationTime: number } }).meta.creationTime)

    it.each([
      [early, -HOUR_MS],
      [late, 5 * HOUR_MS],
    ])(
      'a command whose time the node refuses takes the time of a node with another clock: %s',
      async (text, aheadMs) => {
        const nowMs = new VirtualClock().wallMs()
        const all = commandSenderOf({ send: [refusal(text, nowMs + aheadMs), true] })
        expect(await carriedOut(all)).toMatchObject({ gas: 5 })
        const [first, second] = timesOf(all.commands)
        expect((second - first) * 1000).toBe(aheadMs)
        expect(all.steps).toContainEqual({ type: 'time', chain: 0, aheadMs })
      },
    )

    it.each([
      [late, 59_000],
      [late, null],
      ['Transaction already exists on chain', HOUR_MS],
    ])('a command whose time the node refuses keeps its time otherwise: %s, ahead by %s', async (text, aheadMs) => {
      const nowMs = new VirtualClock().wallMs()
      const all = commandSenderOf({ send: [refusal(text, aheadMs === null ? null : nowMs + aheadMs), true] })
      expect(await carriedOut(all)).toMatchObject({ code: 'NODE_REFUSED' })
      expect(all.sent).toHaveLength(1)
    })
  })
})
