/** `POST /devnet/simulate`: writes besides rows, and proofs of results for the native `verify-spv`. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Change, funded } from './command.ts'
import { sharedLedger, startLedger } from './commands-common.ts'
import { CROSS, GAS, GUARD, on0, simulatorOf } from './simulation.ts'

const ledger = sharedLedger()

const on1 = (...commands: Change[]) => ({ chains: { 1: commands } })

const entriesOf = (commands: Change[]) => commands.map(({ entries }) => entries)

describe('the writes of a simulated command besides rows', () => {
  const moduleText = (version: string) => `(module m G "${version}" (defcap G () true)
      (defschema s a:integer) (deftable t:{s})
      (defpact deal (x) (step (yield { "a": x })) (step (resume { "a" := a } a))))`
  const first = moduleText('first')
  const second = moduleText('second').replace('"second"', '"second" (bless "HASH")')

  it('modules, tables, keysets, namespaces and interfaces stand as they were and as they are', async () => {
    const { simulate } = simulatorOf(await ledger())
    const [install] = (await simulate(on0({ code: `(namespace "free") ${first}` }))).commands
    const { hash } = install.entries[0].after
    const upgrade = second.replace('HASH', hash)
    const keyset = { code: '(namespace "free") (define-keyset "free.k" (read-keyset "k"))', data: { k: GUARD } }
    const keys = { keys: [funded.publicKey], pred: 'keys-all' }
    const { commands } = await simulate(
      on0({ code: `(namespace "free") ${first} (create-table t)` }, keyset),
      on0(
        { code: `(namespace "free") ${upgrade}` },
        { ...keyset, data: { k: { ...GUARD, pred: 'keys-any' } }, signers: ['sender00'] },
        { code: '(namespace "free") (interface face (defun f:integer ()))' },
        { code: '(free.m.deal 1)' },
        { code: '(+ 1 2)' },
      ),
    )
    const module = { kind: 'module', hash, governance: 'capability G', interfaces: [], blessed: [], code: first }
    expect(entriesOf(commands)).toEqual([
      [
        { kind: 'module', key: 'free.m', before: null, after: module },
        { kind: 'table', key: 'free.m.t', before: null, after: { module: 'free.m' } },
      ],
      [{ kind: 'keyset', key: 'free.k', before: null, after: keys }],
      [
        {
          kind: 'module',
          key: 'free.m',
          before: module,
          after: { ...module, hash: expect.not.stringMatching(hash), blessed: [hash], code: upgrade },
        },
      ],
      [{ kind: 'keyset', key: 'free.k', before: keys, after: { ...keys, pred: 'keys-any' } }],
      [
        {
          kind: 'module',
          key: 'free.face',
          before: null,
          after: { kind: 'interface', hash: expect.any(String), code: '(interface face (defun f:integer ()))' },
        },
      ],
      [expect.objectContaining({ kind: 'pact' })],
      [],
    ])
  })

  it('a namespace stands with its guards', async () => {
    const { simulate } = simulatorOf(await ledger())
    const code =
      '(define-namespace (ns.create-principal-namespace (read-keyset "k")) (read-keyset "k") (read-keyset "k"))'
    const { commands } = await simulate(on0({ code, data: { k: GUARD }, signers: ['sender00'] }))
    const guard = { keys: [funded.publicKey], pred: 'keys-all' }
    const key = expect.stringMatching(/^n_/)
    expect(entriesOf(commands)).toEqual([
      [{ kind: 'namespace', key, before: null, after: { user: guard, admin: guard } }],
    ])
  })

  it('a pact stands with its step and its yield, and with null after its end', async () => {
    const { simulate } = simulatorOf(await ledger())
    const { commands } = await simulate(
      on0({ code: `(namespace "free") ${first}` }, { code: '(free.m.deal 5)', name: 'deal' }),
      on0({ continue: { pact: 'deal' } }),
    )
    const [, began, ended] = commands
    const key = began.continuation.pactId
    const open = {
      name: 'free.m.deal',
      step: 0,
      target: null,
      args: [{ int: 5 }],
      yield: { a: { int: 5 } },
      nested: {},
    }
    expect(began.entries).toEqual([{ kind: 'pact', key, before: null, after: open }])
    expect(ended.entries).toEqual([{ kind: 'pact', key, before: open, after: null }])
  })

  it('a crossing pact stands with its target, and nothing where a command failed or no block took it', async () => {
    const { simulate } = simulatorOf(await ledger())
    const { commands } = await simulate(
      on0(CROSS, { code: `(namespace "free") ${first} (enforce false "no")` }, { ...CROSS, sender: 'nobody' }),
    )
    const [burn, failed, refused] = commands
    expect(burn.entries).toMatchObject([{ kind: 'pact', after: { name: 'coin.transfer-crosschain', target: '1' } }])
    expect(failed).toMatchObject({ isInBlock: true, entries: [] })
    expect(refused).toMatchObject({ isInBlock: false, entries: [] })
  })
})

describe('proofs of simulated results', () => {
  const VOTE = { name: 'vote', code: '{"who": "alice", "votes": 7}' }
  const COUNT = '(at "votes" (verify-spv "TXOUT" (read-msg "proof")))'

  it('verify-spv reads the result of a command of an earlier simulated block, for the gas of the network', async () => {
    const { simulate } = simulatorOf(await ledger())
    const { commands } = await simulate(on0(VOTE), on1({ code: COUNT, proofs: { proof: 'vote' } }))
    expect(commands[1].result).toEqual({ status: 'success', data: { int: 7 } })
    expect(commands[1].gas).toBe(101)
    // Nothing of it is kept: the proof of a simulation holds in that simulation only.
    const { commands: fields } = await simulate(on0(VOTE), on1({ code: '(read-msg "p")', proofs: { p: 'vote' } }))
    const [after] = (await simulate(on1({ code: COUNT, data: { proof: fields[1].result.data } }))).commands
    expect(after.result.error.message).toContain('target header is not in the chain')
  })

  it('a proof holds on its target chain only, unchanged, and not for a failed command', async () => {
    const { simulate } = simulatorOf(await ledger())
    const fails = { name: 'fails', code: '(enforce false "no")' }
    const { commands } = await simulate(
      on0(VOTE, fails),
      on1(
        { code: '(verify-spv "TXOUT" (+ { "chain": 0.0 } (read-msg "p")))', proofs: { p: 'vote' } },
        {
          code: '(verify-spv "TXOUT" (+ { "subject": (at "subject" (read-msg "q")) } (read-msg "p")))',
          proofs: { p: 'vote', q: 'fails' },
        },
        { code: '(verify-spv "TXOUT" (read-msg "p"))', proofs: { p: 'fails' } },
      ),
    )
    const messages = commands.slice(2).map(({ result }: Change) => (result as { error: Change }).error.message)
    expect(messages).toEqual([
      'SPV verification failure: verifySPV: cannot redeem spv proof on wrong target chain',
      'SPV verification failure: spv verification failed: target header is not in the chain or is out of bounds',
      'SPV verification failure: verifySPV: Failed command result in tx output proof',
    ])
  })

  it('a request for a proof that cannot be is refused with its place', async () => {
    const { refused } = simulatorOf(await ledger())
    const count = { code: COUNT, proofs: { proof: 'vote' } }
    const at = '/blocks/0/chains/1/0/proofs/proof'
    const reasonOf = async (...blocks: Change[]) => (await refused(...blocks))[1]
    const typo = { ...count, proofs: { proof: 'vots' } }
    expect(await reasonOf(on0(VOTE), on1(typo))).toMatch(
      /^\/blocks\/1\/chains\/1\/0\/proofs\/proof: no earlier command .* did you mean vote\?$/,
    )
    const rule = 'a command has a proof in all blocks after its own, and none if no block took it'
    const none = `${at}: "vote" has no proof here: ${rule}`
    expect(await reasonOf({ chains: { 0: [VOTE], 1: [count] } })).toContain(none)
    const unpaid = { ...VOTE, sender: 'nobody', signers: ['sender00'] }
    expect(await reasonOf(on0(unpaid), on1(count))).toContain(none.replace('/blocks/0', '/blocks/1'))
    expect(await reasonOf(on0(VOTE), on1({ ...count, data: { proof: 1 } }))).toContain('data has this field too')
    const cmd = { cmd: '{}', proofs: { proof: 'vote' } }
    expect(await reasonOf(on0(cmd))).toContain('/blocks/0/chains/0/0/proofs: a complete command has its own')
  })

  it('a transfer crosses chains that are not adjacent and returns, each time with a proof of the simulation', async () => {
    const { devnet } = await startLedger({ graph: 'petersen' })
    onTestFinished(() => devnet.close())
    const { simulate } = simulatorOf({ devnet })
    const crossTo = (chain: string) => ({
      ...CROSS,
      code: CROSS.code.replace('"1" 2.5', `"${chain}" 2.5`),
      signers: [
        {
          key: 'sender00',
          caps: [GAS, { name: 'coin.TRANSFER_XCHAIN', args: ['sender00', 'sender00', { decimal: '2.5' }, chain] }],
        },
      ],
    })
    const pays = { sender: 'sender00', signers: [{ key: 'sender00', caps: [GAS] }] }
    const { commands } = await simulate(
      on0({ ...crossTo('7'), name: 'far' }),
      {
        chains: {
          7: [
            { continue: { pact: 'far' }, ...pays },
            { ...crossTo('0'), name: 'back' },
          ],
        },
      },
      on0({ continue: { pact: 'back' }, ...pays }),
    )
    expect(commands.map(({ result }: Change) => (result as Change).status)).toEqual(Array(4).fill('success'))
  })
})
