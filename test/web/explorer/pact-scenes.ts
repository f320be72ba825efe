/** Transfers between chains and other pacts, for tests of their page. */
import { expect } from 'vitest'
import { type Change, funded, type Signed, signed } from '../../devnet/command.ts'
import { exec, signers } from '../../devnet/commands-common.ts'
import { NETWORK, type start } from './developers-page.ts'

type Node = Awaited<ReturnType<typeof start>>

const guard = { pred: 'keys-all', keys: [funded.publicKey] }

/** A pact of two steps: the first can be rolled back, the second fails for the argument 2. */
export const STEPS = `(namespace "free")
(module steps GOVERNANCE
  (defcap GOVERNANCE () (enforce false "nobody"))
  (defun later (title:string n:integer) (enforce (= n 1) title))
  (defpact lend (title:string n:integer)
    (step-with-rollback title "back")
    (step (later title n)))
)`

/** A transfer of `sender00` to an account on chain 1. */
export function leaving(to: string, amount: string, meta: Change = {}): Signed {
  const account = JSON.stringify(to)
  const code = `(coin.transfer-crosschain "sender00" ${account} (read-keyset "guard") "1" ${amount})`
  const capability = ['coin.TRANSFER_XCHAIN', 'sender00', to, { decimal: amount }, '1'] as const
  return exec(code, meta, { payload: { exec: { code, data: { guard } } }, ...signers(['coin.GAS'], capability) })
}

/** The last step of a transfer, on chain 1. */
export function claim(pactId: string, proof: string, meta: Change = {}): Signed {
  const cont = { pactId, step: 1, rollback: false, data: {}, proof }
  return signed({ chainId: '1', ...meta }, { payload: { cont } })
}

/** Sends a command, and makes the block with it. */
export async function mine(node: Node, command: Signed, chain = 0): Promise<Signed> {
  await node.post(`${NETWORK}/chain/${chain}/pact/api/v1/send`, { cmds: [command] })
  await node.order('make-blocks', { [chain]: 1 })
  const results = await node.post(`${NETWORK}/chain/${chain}/pact/api/v1/poll`, { requestKeys: [command.hash] })
  expect(results).toHaveProperty(command.hash)
  return command
}

export const proofFor = (node: Node, requestKey: string): Promise<string> =>
  node.post(`${NETWORK}/chain/0/pact/spv`, { requestKey, targetChainId: '1' })

/** A transfer whose claim has failed for want of gas. */
export async function failedClaim(node: Node, to: string, amount: string): Promise<Signed> {
  const burnt = await mine(node, leaving(to, amount))
  await node.order('make-blocks', { 1: 2 })
  await mine(node, claim(burnt.hash, await proofFor(node, burnt.hash), { gasLimit: 200 }), 1)
  return burnt
}

/** Makes an account on chain 1 that pays for everybody, without a signature. */
export async function openStation(node: Node): Promise<void> {
  const code = `(namespace "free")
(module station GOVERNANCE
  (defcap GOVERNANCE () (enforce false "nobody"))
  (defun allow:bool () true)
  (defun open () (coin.create-account "station" (create-user-guard (allow)))))
(free.station.open)
(coin.transfer "sender00" "station" 1.0)`
  const meta = { gasLimit: 100_000, chainId: '1' }
  const clist = [
    { name: 'coin.GAS', args: [] },
    { name: 'coin.TRANSFER', args: ['sender00', 'station', 1] },
  ]
  await mine(node, exec(code, meta, { signers: [{ pubKey: funded.publicKey, clist }] }), 1)
}

/** Deploys the pact, and begins one of each kind. */
export async function beginSteps(node: Node, ...calls: readonly [title: string, n: number][]): Promise<Signed[]> {
  await mine(node, exec(STEPS, { gasLimit: 100_000 }, { signers: [{ pubKey: funded.publicKey }] }))
  const begun: Signed[] = []
  for (const [title, n] of calls) begun.push(await mine(node, exec(`(free.steps.lend ${JSON.stringify(title)} ${n})`)))
  return begun
}
