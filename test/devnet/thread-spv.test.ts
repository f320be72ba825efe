/** `verify-spv` in the execution thread, over HTTP: it answers there as it does in the node. */
import { describe, expect, it } from 'vitest'
import { decodeProof, encodeProof } from '../../src/ground/chain/spv.ts'
import { exec, local, makeBlocks, ok, poll, send, sharedLedger, spv } from './commands-common.ts'
import type { CheckedPeer } from './common.ts'

const fieldsOf = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>

/** A command for chain 1 that verifies a proof. */
function verifying(text: string, type = 'TXOUT') {
  const code = `(verify-spv "${type}" (read-msg "proof"))`
  return exec(
    code,
    { chainId: '1', gasLimit: 10_000 },
    { payload: { exec: { code, data: { proof: fieldsOf(text) } } } },
  )
}

const ledger = sharedLedger()

/** A node, and a proof for chain 1 of a command of chain 0. */
async function proven(): Promise<{ readonly peer: CheckedPeer; readonly proof: string }> {
  const { peer } = await ledger()
  const command = exec('{"n": 7, "list": [1.50 true], "time": (parse-time "%F" "2026-11-27")}', { gasLimit: 10_000 })
  await ok(send(peer, [command]))
  await makeBlocks(peer, { 0: 3, 1: 3 })
  const answer = await spv(peer, { requestKey: command.hash, targetChainId: '1' })
  return { peer, proof: JSON.parse(answer.body.toString()) }
}

const expected = { n: { int: 7 }, list: [1.5, true], time: { time: '2026-11-27T00:00:00Z' } }
const failed = (why: string) => ({ status: 'failure', error: { message: `SPV verification failure: ${why}` } })

describe('verify-spv in the thread', () => {
  it('verify-spv in the thread answers in /local, preflight and blocks', async () => {
    const { peer, proof } = await proven()
    const command = verifying(proof)
    expect((await ok(local(peer, command, '', 1))).result.data).toEqual(expected)
    const tried = await ok(local(peer, command, '?preflight=true', 1))
    expect(tried.preflightResult.result.data).toEqual(expected)
    await ok(send(peer, [command], 1))
    await makeBlocks(peer, { 1: 1 })
    expect((await ok(poll(peer, [command.hash], '', 1)))[command.hash].result.data).toEqual(expected)
  })

  it('verify-spv in the thread refuses other types, chains and positions', async () => {
    const { peer, proof } = await proven()
    const type = await ok(local(peer, verifying(proof, 'ETH'), '', 1))
    expect(type.result).toMatchObject(failed('verifySPV: ETH proof type is not yet supported in Pact5.'))
    const moved = encodeProof({ ...decodeProof(proof), position: 9n })
    const why = 'spv verification failed: the output is not at position 9 of its block'
    expect((await ok(local(peer, verifying(moved), '', 1))).result).toMatchObject(failed(why))
  })
})
