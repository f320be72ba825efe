/** A node that follows the preview of the next release, and one that does not, with commands signed by SLH-DSA. */
import { mkdtempSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { HostMachine } from '../../src/devnet/devnet.ts'
import type { Block } from '../../src/devnet/store/block-store.ts'
import { commandSizeOf } from '../../src/ground/chain/command-size.ts'
import { sizeGas } from '../../src/ground/chain/gas.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { runProcess } from '../cli/run.ts'
import { blake2b256, funded, type Signed } from './command.ts'
import { exec, local, makeBlocks, ok, poll, send, sendPrivately, signers } from './commands-common.ts'
import { makeBlock } from './forks.ts'
import { Peer } from './request.ts'
import { publicKey, SCHEME, SIGNED_AT, signedBy, transfer } from './slh-dsa-vectors.ts'
import { type Devnet, type DevnetOptions, startDevnet } from './whole-node.ts'

/** Calls every signature valid. */
const executionThread = new URL('./lying-thread.mjs', import.meta.url)

const folder = mkdtempSync(join(tmpdir(), 'newcut-slh-dsa-'))
afterAll(() => rmSync(folder, { recursive: true }))

const ACCOUNT = `q:${publicKey}`
/** Time at which the stored signatures are current. */
const startMs = (SIGNED_AT + 60) * 1000
const machine: Partial<HostMachine> = { clock: { ...systemClock, wallMs: () => startMs + systemClock.monotonicMs() } }

/** A node at the time of the stored signatures, with one block. */
async function node(options: DevnetOptions = {}, more: Partial<HostMachine> = {}) {
  const devnet = await startDevnet(
    { port: 0, graph: 'singleton', pow: false, autoMine: { kind: 'on-demand' }, ...options },
    { ...machine, ...more },
  )
  const peer = new Peer(devnet.url)
  const end = async () => {
    peer.close()
    await devnet.close()
  }
  onTestFinished(end)
  await makeBlocks(peer, { 0: 1 })
  return { devnet, peer, end }
}
const preview = (options: DevnetOptions = {}, more: Partial<HostMachine> = {}) =>
  node({ nodeRelease: '3.3-preview', ...options }, more)

/** A command of sender00 that pays 10 coins to the account of the key. */
const opening = () =>
  exec(
    `(coin.transfer-create "sender00" "${ACCOUNT}" (read-keyset "ks") 10.0)`,
    { creationTime: SIGNED_AT },
    {
      payload: {
        exec: {
          code: `(coin.transfer-create "sender00" "${ACCOUNT}" (read-keyset "ks") 10.0)`,
          data: { ks: { keys: [`q${publicKey}`], pred: 'keys-all' } },
        },
      },
      ...signers(['coin.GAS'], ['coin.TRANSFER', 'sender00', ACCOUNT, 10]),
    },
  )

/** Sends a command and makes a block. @returns its result */
async function mined(peer: Peer, command: Signed) {
  await ok(send(peer, [command]))
  await makeBlocks(peer, { 0: 1 })
  return (await ok(poll(peer, [command.hash])))[command.hash]
}

/** The command of {@link transfer} with another signature. */
const withSignature = (sig: string): Signed => ({ ...signedBy(transfer), sigs: [{ sig }] })
const wrong = (byte = 100) => {
  const bytes = Buffer.from(transfer.signature, 'base64url')
  bytes[byte] ^= 1
  return withSignature(bytes.toString('base64url'))
}
/** The same as a private command for the node `us`. */
const privately = ({ sigs }: Signed): Signed => {
  const cmd = transfer.cmd.replace(/"meta":\{.*?\}/, '"meta":{"address":{"from":"us","to":[]}}')
  return { cmd, sigs, hash: blake2b256(cmd).toString('base64url') }
}
const REFUSED = 'The signature at position 0 is invalid: Signature verification failed.'

describe('a node that follows the preview', () => {
  it('a node that follows the preview runs a transfer from a q: account, and charges for its signature', async () => {
    const { peer } = await preview()
    expect((await mined(peer, opening())).result).toMatchObject({ status: 'success' })
    const command = signedBy(transfer)
    const { result, gas, events } = await mined(peer, command)
    expect(result).toMatchObject({ status: 'success', data: 'Write succeeded' })
    expect(events).toContainEqual(expect.objectContaining({ name: 'TRANSFER', params: [ACCOUNT, 'sender00', 1.5] }))
    const size = commandSizeOf({ cmd: command.cmd, proof: null, sigs: command.sigs, schemes: [SCHEME] })
    expect(gas).toBeGreaterThan(sizeGas(size, 'post33'))
    expect(gas - sizeGas({ ...size, slhDsaGas: 0 }, 'post33')).toBeGreaterThan(816)
    expect(await ask(peer, `(coin.get-balance "${ACCOUNT}")`)).toBeCloseTo(10 - 1.5 - gas * 1e-7, 12)
  })

  it('a node that follows the preview refuses a wrong signature in send, local and private commands, with the text of live nodes', async () => {
    const { peer } = await preview({ entity: 'us' })
    const sent = await send(peer, [wrong()])
    expect(sent.status).toBe(400)
    expect(sent.body.toString()).toContain(REFUSED)
    const asked = await local(peer, wrong())
    expect(asked.status).toBe(400)
    expect(asked.body.toString()).toBe(`Metadata validation failed: ["${REFUSED}"]`)
    const told = await sendPrivately(peer, privately(wrong()))
    expect(told.status).toBe(400)
    expect(told.body.toString()).toBe(`Validation failed: ${REFUSED}`)
  })

  it('a node that follows the preview answers a local call with such a signature, and its preflight', async () => {
    const { peer } = await preview()
    await mined(peer, opening())
    expect((await ok(local(peer, signedBy(transfer)))).result).toMatchObject({ status: 'success' })
    const { preflightResult } = await ok(local(peer, signedBy(transfer), '?preflight=true'))
    expect(preflightResult).toMatchObject({ result: { status: 'success' } })
  })

  it('a node that follows the preview takes at most four such signatures with a command', async () => {
    const { peer } = await preview()
    const signer = { pubKey: publicKey, scheme: SCHEME, clist: [] }
    const change = { ...JSON.parse(transfer.cmd), signers: Array(5).fill(signer) }
    const cmd = JSON.stringify({ ...change, meta: { ...change.meta, gasLimit: 20_000 } })
    const command = {
      cmd,
      hash: blake2b256(cmd).toString('base64url'),
      sigs: Array(5).fill({ sig: transfer.signature }),
    }
    for (const answer of [await send(peer, [command]), await local(peer, command)]) {
      expect(answer.body.toString()).toContain('Too many SLH-DSA signatures: 5; a node takes 4')
    }
  })

  it('a node that follows the preview counts signatures as work, beside what they cost', async () => {
    const { peer } = await preview()
    // Failures that are caught take more work than gas.
    const code = '(length (map (lambda (i) (try 1 (enforce false "x"))) (enumerate 1 1000)))'
    const run = async (gasLimit: number, ...schemes: string[]) => {
      const signers = [{ pubKey: funded.publicKey }, ...schemes.map((scheme) => ({ pubKey: publicKey, scheme }))]
      const command = exec(code, { creationTime: SIGNED_AT, gasLimit }, { signers })
      const { preflightResult } = await ok(local(peer, command, '?signatureVerification=false&preflight=true'))
      return preflightResult as { readonly gas: number; readonly result: unknown }
    }
    const { gas, result } = await run(10_000, 'SLH-DSA-SHA2-256s')
    expect(result).toMatchObject({ data: { int: 1000 } })
    expect((await run(gas)).result).toMatchObject({ status: 'success' })
    expect((await run(gas, 'SLH-DSA-SHA2-256s')).result).toMatchObject({
      error: { message: expect.stringMatching(`Gas limit "${gas}" exceeded`) },
    })
  })

  it('a node that follows the preview has signatures verified in a thread, and believes one that lies', async () => {
    const { peer } = await preview({ entity: 'us' }, { executionThread })
    await ok(sendPrivately(peer, privately(wrong(202))))
    await mined(peer, opening())
    expect((await ok(local(peer, wrong(200)))).result).toMatchObject({ status: 'success' })
    expect((await mined(peer, wrong(201))).result).toMatchObject({ status: 'success' })
  })

  it.each([
    ['own', {}, 'invalid', 300],
    ['lying', { executionThread }, 'added', 301],
  ])(
    'a node that follows the preview verifies the signatures in blocks of others in its %s thread',
    async (_name, more, status, byte) => {
      const signers = [{ pubKey: funded.publicKey }, { pubKey: publicKey, scheme: SCHEME }]
      const own = exec('1', { creationTime: SIGNED_AT, gasLimit: 5000 }, { signers })
      const author = (await preview()).devnet
      // Nobody has checked its signatures.
      const unchecked = { ...own, sigs: [...own.sigs, ...wrong(byte).sigs] }
      const blocks = [blockOf(author, 1), makeBlock(author, author.chains.cut, 0, { commands: [unchecked] })]
      const { chains } = (await preview({}, more)).devnet
      const added = []
      for (const { header, payload } of blocks) {
        await chains.prepare(header, payload)
        added.push(chains.insert(header, payload).status)
      }
      expect(added).toEqual(['added', status])
    },
  )

  it('a node that follows the preview says that it is a preview, in /info too', async () => {
    const notices: string[] = []
    const { peer } = await preview({ onNotice: (message) => void notices.push(message) })
    expect(notices).toContainEqual(expect.stringMatching(/^node release 3\.3-preview is a preview: /))
    expect((await ok(peer.request('GET', '/info'))).nodePackageVersion).toBe('3.3-preview')
  })

  it('a node that follows the preview verifies the signatures of a data directory again, and so does the check of it', async () => {
    const dataDir = join(folder, 'data')
    const first = await preview({ dataDir })
    await mined(first.peer, opening())
    await mined(first.peer, signedBy(transfer))
    await first.end()
    await rm(join(dataDir, 'state'), { recursive: true })
    const again = await node({ dataDir })
    expect(await ask(again.peer, `(coin.get-balance "${ACCOUNT}")`)).toBeLessThan(8.5)
    await again.end()
    // Another process knows no verdicts.
    const { code, out } = await runProcess(['devnet', '--data', dataDir, '--check'])
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('nothing is wrong') })
  })

  it('a node that follows the preview has principals and keys of SLH-DSA in contracts', async () => {
    const { peer } = await preview()
    expect(await ask(peer, `(typeof-principal "${ACCOUNT}")`)).toBe('q:')
  })
})

describe('a node that follows the newest release', () => {
  it('a node that follows the newest release refuses the scheme, its keys and its principals', async () => {
    const { peer } = await node()
    const sent = await send(peer, [signedBy(transfer)])
    const text = `Unsupported Signature scheme \\"${SCHEME}\\"; expected ED25519 or WebAuthn`
    expect(sent.status).toBe(400)
    expect(sent.body.toString()).toContain('The signature at position 0 is invalid: Unsupported Signature scheme')
    expect((await local(peer, signedBy(transfer))).body.toString()).toContain(text)
    expect((await mined(peer, opening())).result).toMatchObject({
      status: 'failure',
      error: { message: expect.stringContaining('Invalid keyset') },
    })
    expect(await ask(peer, `(typeof-principal "${ACCOUNT}")`)).toBe('')
  })
})

/** A block below the head of a node. */
function blockOf({ chains }: Devnet, height: number): Block {
  const [head] = chains.cut.values()
  const block = chains.store.get(chains.ancestor(head.hash, height).hash)
  if (block === undefined) throw new Error(`no block at height ${height}`)
  return block
}

/** The value of code, as a number or a text. */
async function ask(peer: Peer, code: string): Promise<unknown> {
  return (await ok(local(peer, exec(code, { creationTime: SIGNED_AT })))).result.data
}
