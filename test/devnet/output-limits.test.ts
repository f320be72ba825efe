/** Limits of what a command prints: results, events, continuations and writes. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDataDirectory } from '../../src/devnet/data/directory.ts'
import {
  type ExecutionResult,
  NO_OUTPUT_LIMITS,
  OUTPUT_LIMITS,
  resultText,
} from '../../src/devnet/ledger/command-result.ts'
import type { PactRun } from '../../src/language/contracts/machine/ast.ts'
import type { EmittedEvent } from '../../src/language/contracts/machine/environment.ts'
import type { LayerEntry } from '../../src/language/contracts/machine/state.ts'
import { Guard } from '../../src/language/contracts/values/value.ts'
import { exec, transfer } from './commands-common.ts'
import { miner, temporaryDirectory } from './grow.ts'
import { LedgerGround } from './ledger-ground.ts'
import { localValue } from './local.ts'
import { inPayload } from './read-command.ts'
import { startDevnet } from './whole-node.ts'

const LONG = 'm'.repeat(8000)
/** Emits events that each hold a module reference of 8,000 characters. */
const events = (count: number) => `
  (namespace "free")
  (interface i (defconst X 1))
  (module ${LONG} G (implements i) (defcap G () true))
  (module emitter G
    (defcap G () true)
    (defcap E (m:module{i}) @event true)
    (defun all (n:integer) (map (lambda (x) (emit-event (E ${LONG}))) (enumerate 1 n))))
  (length (emitter.all ${count}))`

const list = (count: number) => `(make-list ${count} "${'x'.repeat(1000)}")`
const options = { gasLimit: 150_000 }

describe('a command with an output over 2 MiB', () => {
  it.each([
    ['events', events(1000), events(10)],
    ['a value', list(2200), list(10)],
  ])(
    'a command with an output over 2 MiB fails by %s in a block and in /local, and the block goes on',
    (_, hostile, small) => {
      const ground = new LedgerGround('singleton')
      const bad = ground.command(0, hostile, options)
      const good = ground.command(0, small, options)
      const last = ground.command(0, '(+ 1 2)')
      ground.grow(0)
      for (const answer of [ground.ledger.local(0, bad.command), ground.ledger.preflight(0, bad.command)]) {
        expect(JSON.parse(answer).result).toMatchObject({ status: 'failure', error: { message: 'Result too large' } })
      }
      const blocks = [[], [bad], [good], [last]].map((commands) => ground.grow(0, commands))
      expect(blocks.map(({ payload }) => payload.transactions.length)).toEqual([0, 1, 1, 1])
      const failed = ground.result(0, bad.key)
      expect(failed?.result).toMatchObject({ status: 'failure', error: { message: 'Result too large' } })
      expect(failed?.gas).toBe(150_000)
      expect(failed?.txId).toBe(null)
      // The gas is paid, and nothing else has happened.
      expect(failed?.events?.map(({ name }) => name)).toEqual(['TRANSFER'])
      expect(ground.result(0, good.key)?.result.status).toBe('success')
      expect(ground.result(0, last.key)?.result.data).toEqual({ int: 3 })
    },
  )

  it('a command with an output over 2 MiB keeps none of its writes', () => {
    const ground = new LedgerGround('singleton')
    ground.grow(0)
    const code = `(namespace "free") (module kept G (defcap G () true)) ${list(2200)}`
    const bad = ground.command(0, code, options)
    ground.grow(0, [bad])
    expect(ground.result(0, bad.key)?.result.error?.message).toBe('Result too large')
    expect(() => ground.local(0, '(describe-module "free.kept")')).toThrow('free.kept')
  })
})

describe('the text of a result', () => {
  const nothing: ExecutionResult = {
    ...{
      gas: 1,
      result: { value: true },
      key: 'k',
      writes: null,
      events: [],
      metaData: 'null',
      pact: null,
      txId: null,
    },
  }
  const row = (domain: LayerEntry['domain'], key: string): LayerEntry => ({
    ...{ domain, key, value: new Guard({ kind: 'keyset', keys: [], predicate: 'x'.repeat(500) }) },
  })
  const event: EmittedEvent = { module: 'm', name: 'E', params: ['x'.repeat(500)], moduleHash: 'h' }
  const step = (characters: number) =>
    ({
      ...{ id: 'p', fun: { qualified: 'm.p', steps: [{ rollback: null }] }, args: ['x'.repeat(characters)], step: 0 },
      ...{ yielded: { data: new Map([['a', 'x'.repeat(300)]]), provenance: null, source: '' }, nested: new Map() },
    }) as unknown as PactRun
  const limits = { resultBytes: 1000, writtenBytes: 1000 }

  it.each<readonly [string, Partial<ExecutionResult>, Partial<ExecutionResult>]>([
    ['value', { result: { value: 'x'.repeat(500) } }, { result: { value: 'x'.repeat(1000) } }],
    ['events', { events: [event] }, { events: [event, event] }],
    ['continuations', { pact: step(300) }, { pact: step(800) }],
    ['yields', { pact: step(300) }, { pact: { ...step(300), nested: new Map([['q', step(300)]]) } }],
    ['rows', { writes: [row('table:t', 'a')] }, { writes: [row('table:t', 'a'), row('table:t', 'b')] }],
    ['keys of rows', { writes: [row('table:t', 'a')] }, { writes: [row('table:t', 'a'.repeat(500))] }],
    ['keysets', { writes: [row('keysets', 'a')] }, { writes: [row('keysets', 'a'), row('keysets', 'b')] }],
  ])('the text of a result has a limit of %s', (_, below, above) => {
    expect(JSON.parse(resultText({ ...nothing, ...below }, limits)).gas).toBe(1)
    expect(() => resultText({ ...nothing, ...above }, limits)).toThrow('Result too large')
    expect(JSON.parse(resultText({ ...nothing, ...above }, NO_OUTPUT_LIMITS)).gas).toBe(1)
  })

  it('the text of a result has the limits of the network unless others are named', () => {
    expect(OUTPUT_LIMITS).toEqual({ resultBytes: 2 ** 21, writtenBytes: 2 ** 24 })
    expect(() => resultText({ ...nothing, result: { value: 'x'.repeat(2 ** 21) } })).toThrow('Result too large')
  })
})

it('a directory with a block over the limits, whose state was lost when the node ended, starts again', async () => {
  const dataDir = await temporaryDirectory()
  const node = await startDevnet({ port: 0, dataDir, graph: 'singleton', pow: false })
  const { chains, ledger } = node
  const parent = chains.cut.get(0)
  if (parent === undefined) throw new Error('no chain 0')
  // Versions without limits made such blocks.
  const draft = ledger.begin(parent, miner, { limits: NO_OUTPUT_LIMITS })
  for (const each of [exec(list(2200), { gasLimit: 140_000 }), transfer('sender01', 1)]) {
    expect(draft.add(inPayload(each))).toBe('added')
  }
  const payload = ledger.payloadOf(draft, parent)
  const work = chains.newWork(0, payload.payloadHash)
  if ('blockedBy' in work) throw new Error('blocked')
  expect(chains.add(work, payload).status).toBe('added')
  const balance = localValue(ledger, 0, '(coin.get-balance "sender01")')
  await chains.durable()
  await node.close()
  await rm(join(dataDir, 'state'), { recursive: true })

  const again = await openDataDirectory(dataDir, {
    ...{ asked: {}, onFailure: () => undefined, onNotice: () => undefined },
  })
  expect(localValue(again.ledger, 0, '(coin.get-balance "sender01")')).toEqual(balance)
  await again.close()
})
