/** Pacts that continue on another chain, over HTTP, with valid and with forged proofs. */
import { describe, expect, it } from 'vitest'
import { decodeProof, encodeProof } from '../../src/ground/chain/spv.ts'
import { type Change, funded, type Signed, signed } from './command.ts'
import { exec, local, makeBlocks, ok, poll, send, sharedLedger, signers, spv, startLedger } from './commands-common.ts'
import type { CheckedPeer } from './common.ts'

const guard = { pred: 'keys-all', keys: [funded.publicKey] }
const OUT_OF_BOUNDS = 'spv verification failed: target header is not in the chain or is out of bounds'

/** Sends a command and makes a block for it. */
async function run(peer: CheckedPeer, command: Signed, chain = 0) {
  await ok(send(peer, [command], chain))
  await makeBlocks(peer, { [chain]: 1 })
  return (await ok(poll(peer, [command.hash], '', chain)))[command.hash]
}

/** A cross-chain transfer of `sender00` from chain 0. */
function crossChainTransfer(amount: string, to = '1'): Signed {
  const code = `(coin.transfer-crosschain "sender00" "sender00" (read-keyset "guard") "${to}" ${amount})`
  const capability = ['coin.TRANSFER_XCHAIN', 'sender00', 'sender00', { decimal: amount }, to] as const
  return exec(code, {}, { payload: { exec: { code, data: { guard } } }, ...signers(['coin.GAS'], capability) })
}

/** The next step of a pact, on another chain. */
function continuationOf(pactId: string, proof: string | null, chain = 1, change: Change = {}): Signed {
  const cont = { pactId, step: 1, rollback: false, data: {}, proof, ...change }
  return signed({ chainId: String(chain) }, { payload: { cont } })
}

async function proofOf(peer: CheckedPeer, command: Signed, chain = 1, source = 0): Promise<string> {
  return ok(spv(peer, { requestKey: command.hash, targetChainId: String(chain) }, source))
}

/** The result of preflight: `success` or the error message. */
async function preflightOutcome(peer: CheckedPeer, command: Signed, chain = 1, query = '') {
  const { preflightResult } = await ok(local(peer, command, `?preflight=true${query}`, chain))
  return preflightResult.result.status === 'success' ? 'success' : preflightResult.result.error.message
}

/** Coins of `sender00` in units of 10^-12, which are exact here. */
async function balance(peer: CheckedPeer, chain: number): Promise<bigint> {
  const { result } = await ok(local(peer, exec('(format "{}" [(coin.get-balance "sender00")])'), '', chain))
  const [whole, fraction = ''] = result.data.split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}

const MODULE = `
  (namespace "free")
  (module steps GOVERNANCE
    (defcap GOVERNANCE () (enforce false "closed"))
    (defpact at-home ()
      (step (yield { "a": 1 }))
      (step (resume { "a" := a } a)))
    (defpact silent ()
      (step "first")
      (step "second"))
    (defpact abroad (chain:string)
      (step (yield { "a": 7 } chain))
      (step (resume { "a" := a } (+ a 1))))
    (defpact there-and-back (there:string here:string)
      (step (yield { "path": [0] } there))
      (step (resume { "path" := path } (yield { "path": (+ path [1]) })))
      (step (resume { "path" := path } (yield { "path": (+ path [2]) } here)))
      (step (resume { "path" := path } (+ path [3])))))`

/** Three chains. The module is on 0 and 1. */
const triangle = sharedLedger({ graph: 'triangle' }, {}, async ({ peer }) => {
  for (const chain of [0, 1]) {
    const { result } = await run(peer, exec(MODULE, { gasLimit: 20_000, chainId: String(chain) }), chain)
    expect(result.status, JSON.stringify(result)).toBe('success')
  }
})

/** Burns coins on chain 0 for chain 1, and makes the blocks after which chain 1 can verify the proof. */
async function burn(amount = '2.5', started = triangle()) {
  const { peer, devnet } = await started
  const command = crossChainTransfer(amount)
  const burnt = await run(peer, command)
  expect(burnt.result.status).toBe('success')
  await makeBlocks(peer, { 1: 2 })
  return { peer, devnet, command, burnt, proof: await proofOf(peer, command) }
}

let burnt: ReturnType<typeof burn> | undefined

/** Coins burnt on chain 0, shared by tests that do not claim them on chain 1. */
function unclaimedBurn() {
  burnt ??= burn()
  return burnt
}

describe('cross-chain transfers', () => {
  it('a cross-chain transfer burns coins on one chain and mints them on the other, to the last digit', async () => {
    const { peer, command, burnt, proof } = await burn('2.000000000001')
    expect(burnt.continuation).toMatchObject({
      pactId: command.hash,
      step: 0,
      yield: { data: { amount: 2.000000000001 }, provenance: { targetChainId: '1' } },
    })
    const before = await balance(peer, 1)
    const minted = await run(peer, continuationOf(command.hash, proof), 1)
    expect(minted.result).toEqual({ status: 'success', data: 'Write succeeded' })
    expect(await balance(peer, 1)).toBe(before + 2_000_000_000_001n - BigInt(minted.gas) * 10_000n)
    const names = (events: readonly { name: string }[]) => events.map(({ name }) => name)
    expect(names(burnt.events)).toEqual(['TRANSFER_XCHAIN', 'TRANSFER', 'X_YIELD', 'TRANSFER'])
    expect(names(minted.events)).toEqual(['TRANSFER', 'TRANSFER_XCHAIN_RECD', 'X_RESUME', 'TRANSFER'])
  })

  it('a cross-chain transfer is claimed once: a second continuation with its proof fails', async () => {
    const { peer, command, proof } = await burn('2.5', startLedger({ graph: 'triangle', nodeRelease: '2.32' }))
    await run(peer, continuationOf(command.hash, proof), 1)
    const before = await balance(peer, 1)
    const again = await run(peer, continuationOf(command.hash, proof), 1)
    const id = command.hash.slice(0, 20)
    expect(again.result.error.message).toBe(`Requested defpact execution already completed for defpact id: ${id}...`)
    expect(await balance(peer, 1)).toBe(before - BigInt(again.gas) * 10_000n)
  })

  it('nodes from release 3.1 refuse the second continuation of a cross-chain transfer right away', async () => {
    const { peer, command, proof } = await burn()
    await run(peer, continuationOf(command.hash, proof), 1)
    const answer = await send(peer, [continuationOf(command.hash, proof)], 1)
    expect(answer.status).toBe(400)
    expect(`${answer.body}`).toContain(
      `failed with: This transaction is attempting to complete an already-completed defpact ID: ${command.hash}`,
    )
  })

  it('the proof of a cross-chain transfer continues no other pact', async () => {
    const { peer, command, proof } = await unclaimedBurn()
    const other = crossChainTransfer('1.0')
    await run(peer, other)
    for (const pactId of [other.hash, 'A'.repeat(43), '']) {
      expect(await preflightOutcome(peer, continuationOf(pactId, proof))).toContain(command.hash)
    }
    expect(await preflightOutcome(peer, continuationOf(command.hash, proof))).toBe('success')
  })

  it.each([{ step: 0 }, { step: 2 }, { step: -1 }, { rollback: true }, { step: 0, rollback: true }])(
    'a cross-chain transfer cannot be claimed with another step: %o',
    async (change) => {
      const { peer, command, proof } = await unclaimedBurn()
      expect(await preflightOutcome(peer, continuationOf(command.hash, proof, 1, change))).not.toBe('success')
      expect(await preflightOutcome(peer, continuationOf(command.hash, proof))).toBe('success')
    },
  )

  it('a cross-chain transfer cannot be claimed on a chain to which it was not sent', async () => {
    const { peer, command, proof } = await unclaimedBurn()
    await makeBlocks(peer, { 2: 2 })
    const wrongChain = 'Continuation error: verifyCont: cannot redeem continuation proof on wrong targget chain'
    expect(await preflightOutcome(peer, continuationOf(command.hash, proof, 2), 2)).toBe(wrongChain)
    expect(await preflightOutcome(peer, continuationOf(command.hash, proof, 0), 0)).toBe(wrongChain)
    // A valid proof for that chain shows that the coins went to another one.
    expect(await preflightOutcome(peer, continuationOf(command.hash, await proofOf(peer, command, 2), 2), 2)).toMatch(
      /^Yield provenance does not match, received: Provenance 1 \S{20}\.\.\. , expected: Provenance 2 \S{20}\.\.\.$/,
    )
    expect(await preflightOutcome(peer, continuationOf(command.hash, await proofOf(peer, command, 0), 0), 0)).toBe(
      `Cross-chain defpact continuation error: defpact id: ${command.hash.slice(0, 20)}...`,
    )
    expect(await preflightOutcome(peer, continuationOf(command.hash, null, 0), 0)).toContain('expected: Provenance 0 ')
    expect(await preflightOutcome(peer, continuationOf(command.hash, null))).toContain(
      'No previous defpact execution found',
    )
  })

  it('a cross-chain transfer can be claimed from the block of its proof, not before', async () => {
    const { peer, command, proof } = await burn()
    const claim = continuationOf(command.hash, proof)
    expect(await preflightOutcome(peer, claim)).toBe('success')
    expect(await preflightOutcome(peer, claim, 1, '&rewindDepth=1')).toBe(`Continuation error: ${OUT_OF_BOUNDS}`)
  })
})

describe('an invalid proof', () => {
  it.each([
    ['it is not base64url', 'verifyCont: Invalid base64-encoded transaction output proof', () => 'no proof!'],
    ['it is not JSON', 'verifyCont: Cannot decode transaction output proof', () => 'AAAA'],
    [
      'its output was changed',
      OUT_OF_BOUNDS,
      (proof: string) => {
        const { output, ...rest } = decodeProof(proof)
        const dearer = Buffer.from(Buffer.from(output).toString().replaceAll('2.5', '9.5'))
        return encodeProof({ ...rest, output: dearer })
      },
    ],
    [
      'its path was cut short',
      OUT_OF_BOUNDS,
      (proof: string) => {
        const { steps, ...rest } = decodeProof(proof)
        return encodeProof({ ...rest, steps: steps.slice(0, -1) })
      },
    ],
  ])('an invalid proof is refused if %s', async (_name, fault, spoil) => {
    const { peer, command, proof } = await unclaimedBurn()
    expect(spoil(proof)).not.toBe(proof)
    expect(await preflightOutcome(peer, continuationOf(command.hash, spoil(proof)))).toBe(
      `Continuation error: ${fault}`,
    )
    // In a block the failure costs all its gas, and the coins can still arrive.
    const failed = await run(peer, continuationOf(command.hash, spoil(proof)), 1)
    expect(failed).toMatchObject({ gas: 600, result: { status: 'failure' } })
    expect(await preflightOutcome(peer, continuationOf(command.hash, proof))).toBe('success')
  })

  it('the proof of a command without a pact is refused', async () => {
    const { peer } = await triangle()
    const plain = exec('1')
    await run(peer, plain)
    await makeBlocks(peer, { 1: 2 })
    expect(await preflightOutcome(peer, continuationOf(plain.hash, await proofOf(peer, plain)))).toBe(
      'Continuation error: verifyCont: No pact exec found in command result',
    )
  })

  it('the proof of a failed pact is refused', async () => {
    const { peer } = await triangle()
    const tooMuch = crossChainTransfer('999999999.0')
    expect((await run(peer, tooMuch)).result.error.message).toBe('Insufficient funds')
    await makeBlocks(peer, { 1: 2 })
    expect(await preflightOutcome(peer, continuationOf(tooMuch.hash, await proofOf(peer, tooMuch)))).toBe(
      'Continuation error: verifyCont: No pact exec found in command result',
    )
  })
})

describe('pacts', () => {
  /** Begins a pact on chain 0. */
  async function beginPact(code: string, chain = 1) {
    const { peer } = await triangle()
    const command = exec(code)
    expect((await run(peer, command)).result.status).toBe('success')
    await makeBlocks(peer, { [chain]: 3 })
    return { peer, command, proof: await proofOf(peer, command, chain) }
  }

  it('a pact continues on another chain if it yields to that chain', async () => {
    const { peer, command, proof } = await beginPact('(free.steps.abroad "1")')
    const done = await run(peer, continuationOf(command.hash, proof), 1)
    expect(done.result).toEqual({ status: 'success', data: { int: 8 } })
  })

  it('a pact continues on another chain and comes back', async () => {
    const { peer, command, proof } = await beginPact('(free.steps.there-and-back "1" "0")')
    const runStep = async (chain: number, step: number, text: string | null) => {
      const next = continuationOf(command.hash, text, chain, { step })
      const { result } = await run(peer, next, chain)
      expect(result.status, JSON.stringify(result)).toBe('success')
      return { next, result }
    }
    const first = await runStep(1, 1, proof)
    await makeBlocks(peer, { 0: 3 })
    // The proof is one step early: this chain must not run that step a second time.
    const early = continuationOf(command.hash, await proofOf(peer, first.next, 0, 1), 0, { step: 2 })
    expect(await preflightOutcome(peer, early, 0)).toBe(
      `Cross-chain defpact continuation error: defpact id: ${command.hash.slice(0, 20)}...`,
    )
    const second = await runStep(1, 2, null)
    await makeBlocks(peer, { 0: 3 })
    const last = await runStep(0, 3, await proofOf(peer, second.next, 0, 1))
    expect(last.result.data).toEqual([0, 1, 2, 3].map((int) => ({ int })))
  })

  it.each([
    ['(free.steps.at-home)', { int: 1 }],
    ['(free.steps.silent)', 'second'],
  ])(
    'a pact without a target chain continues wherever there is a proof, as on live networks: %s',
    async (code, data) => {
      const { peer, command, proof } = await beginPact(code)
      expect((await run(peer, continuationOf(command.hash, proof), 1)).result).toEqual({ status: 'success', data })
    },
  )

  it('a pact needs its module on the other chain', async () => {
    const { peer, command, proof } = await beginPact('(free.steps.abroad "2")', 2)
    expect(await preflightOutcome(peer, continuationOf(command.hash, proof, 2), 2)).toContain('free.steps.abroad')
  })
})
