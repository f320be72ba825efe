/** The second step of a transfer between chains, at a node whose branches change. */
import { describe, expect, it } from 'vitest'
import { NodeRefusal } from '../../src/client/node/errors.ts'
import { waitForProof, waitForResult } from '../../src/client/node/wait-for.ts'
import type { SignedCommand } from '../../src/client/wallet/command.ts'
import { CommandSender } from '../../src/client/wallet/command-sender.ts'
import { completeCrossing, crossingOf } from '../../src/client/wallet/crossing.ts'
import { knownKey } from '../../src/client/wallet/known-keys.ts'
import type { WalletNode } from '../../src/client/wallet/wallet-node.ts'
import type { CommandResult } from '../../src/ground/schema/command-bodies.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'

const FIRST = 'F'.repeat(43)
const HASH = 'H'.repeat(43)
const metaData = { blockHeight: 7, blockTime: 0, blockHash: HASH, prevBlockHash: HASH }

/** The result of the first step, which yields to this chain. */
function firstStep(targetChainId: string | null): CommandResult {
  const provenance = targetChainId === null ? null : { targetChainId, moduleHash: HASH }
  return {
    gas: 1,
    result: { status: 'success', data: {} },
    reqKey: FIRST,
    metaData,
    continuation: {
      pactId: FIRST,
      step: 0,
      stepCount: 2,
      stepHasRollback: false,
      yield: { data: {}, provenance },
      continuation: { def: 'coin.transfer-crosschain', args: [] },
    },
  }
}

const key = knownKey('sender00')?.key
if (key === undefined) throw new Error('no key sender00')
const payment = { gasPayer: 'sender00', keys: [key] }

/** Errors of the node for the proof request and for the preflight, per round. The last round repeats. */
interface Round {
  readonly spv?: string
  readonly trial?: string
}

async function complete(rounds: readonly Round[]) {
  const clock = new VirtualClock()
  const sent: { payload: { cont: Record<string, unknown> }; meta: { chainId: string; sender: string } }[] = []
  let round = -1
  const now = () => rounds[Math.min(round, rounds.length - 1)]
  const failure = (message: string) => ({ status: 'failure', error: { message } })
  const node = {
    info: { nodeVersion: 'development' },
    spv: async () => {
      round++
      const { spv } = now()
      if (spv !== undefined) throw new NodeRefusal({ url: 'u', status: 400, excerpt: spv, isFromNode: true })
      return `proof${round}`
    },
    local: async (_chain: number, { hash }: SignedCommand) => {
      const { trial } = now()
      const result = trial === undefined ? { status: 'success', data: 'Write succeeded' } : failure(trial)
      return { gas: 5, result, reqKey: hash, metaData, preflightWarnings: [] }
    },
    send: async (_chain: number, [{ cmd, hash }]: readonly SignedCommand[]) => {
      sent.push(JSON.parse(cmd))
      return [hash]
    },
    poll: async (_chain: number, [reqKey]: readonly string[]) =>
      new Map([[reqKey, { gas: 5, result: { status: 'success', data: 'Write succeeded' }, reqKey, metaData }]]),
    cut: async () => ({ hashes: {} }),
    waitFor: (chain: number, requestKey: string, options: object) =>
      waitForResult(node as never, { chain, requestKey }, options, { clock, random: () => 0.5 }),
    waitForProof: (chain: number, requestKey: string, targetChain: number, options: object) =>
      waitForProof(node as never, { chain, requestKey, targetChain }, options, { clock, random: () => 0.5 }),
  }
  const commandSender = new CommandSender(node as unknown as WalletNode, { clock })
  const crossing = crossingOf(firstStep('3'), 0)
  const done = completeCrossing(commandSender, crossing, payment).catch((error: unknown) => error)
  await clock.pass(3_600_000)
  return { outcome: await done, sent, rounds: round + 1 }
}

describe('the second step', () => {
  it('the second step carries the proof to the target chain, and is paid for there', async () => {
    const { outcome, sent } = await complete([{}])
    expect(outcome).toMatchObject({ result: { status: 'success', data: 'Write succeeded' } })
    const cont = { data: {}, proof: 'proof0', pactId: FIRST, step: 1, rollback: false }
    expect(sent).toMatchObject([{ payload: { cont }, meta: { chainId: '3', sender: 'sender00' } }])
  })

  it('the second step waits for the proof', async () => {
    const young = { spv: 'SPV target not reachable: target chain not reachable. Chainweb instance is too young' }
    expect((await complete([young, young, {}])).sent).toMatchObject([{ payload: { cont: { proof: 'proof2' } } }])
  })

  it('the second step gets another proof when other branches take the blocks of the first step or of the proof', async () => {
    const trial = 'Continuation error: spv verification failed: target header is not in the chain or is out of bounds'
    const { outcome, sent } = await complete([{ trial }, { spv: `Transaction hash not found: "${FIRST}"` }, {}])
    expect(outcome).toMatchObject({ result: { status: 'success' } })
    expect(sent).toMatchObject([{ payload: { cont: { proof: 'proof2' } } }])
  })

  it('the second step gives up after ten proofs', async () => {
    const { outcome, rounds } = await complete([{ trial: 'target header is not in the chain' }])
    expect(outcome).toMatchObject({ code: 'COMMAND_FAILED' })
    expect(rounds).toBe(10)
  })

  it('the second step is not needed if somebody has done it', async () => {
    const trial = `Requested defpact execution already completed for defpact id: ${FIRST.slice(0, 20)}...`
    expect(await complete([{ trial }])).toMatchObject({ outcome: null, sent: [] })
  })

  it('the second step fails at once for any other reason', async () => {
    const { outcome, rounds } = await complete([{ trial: 'Insufficient funds' }])
    expect(outcome).toMatchObject({ code: 'COMMAND_FAILED' })
    expect(rounds).toBe(1)
  })
})

describe('the first step', () => {
  it('the first step names the chain of the second', () => {
    const crossing = { chain: 2, requestKey: FIRST, targetChain: 12, pactId: FIRST, step: 1 }
    expect(crossingOf(firstStep('12'), 2)).toEqual(crossing)
  })

  it.each([
    ['hands on nothing to another chain', firstStep(null)],
    ['hands on to no number', firstStep('x')],
    ['is complete in itself', { ...firstStep('1'), continuation: null }],
  ])('a result is not a first step if it %s', (_name, result) => {
    expect(() => crossingOf(result, 0)).toThrow(
      `${FIRST} on chain 0 is not the first step of a transfer between chains`,
    )
  })
})
