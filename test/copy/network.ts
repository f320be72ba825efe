/** The network that tests fork: our own node with a token. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished } from 'vitest'
import type { DevnetFork } from '../../src/devnet/copy/open-copy.ts'
import { type Change, funded, signed } from '../devnet/command.ts'
import { exec, makeBlocks, poll, send, sharedLedger, startLedger } from '../devnet/commands-common.ts'
import { type CheckedPeer, jsonOf, type Started, start } from '../devnet/common.ts'
import { honest, type Manner, type NodeProxy, proxyTo } from './proxy.ts'

export const TOKEN = `(namespace "free")

(module fork-token GOVERNANCE
  (use coin [details])
  (defcap GOVERNANCE () (enforce false "nobody"))
  (defconst FIRST:decimal 100.5)
  (defconst OWNER:string (read-msg "owner") "known at the deployment alone")
  (defschema account balance:decimal guard:guard since:time notes:[string] count:integer)
  (deftable accounts:{account})
  (deftable unused:{account})
  (defcap TRANSFER:bool (from:string to:string amount:decimal)
    @managed amount manager
    (with-read accounts from { "guard":= guard } (enforce-guard guard)))
  (defun manager:decimal (managed:decimal requested:decimal)
    (let ((left (- managed requested))) (enforce (>= left 0.0) "too much") left))
  (defun open:string (name:string guard:guard)
    (insert accounts name
      { "balance": FIRST, "guard": guard, "since": (time "2024-02-03T04:05:06Z"), "notes": ["a" name], "count": 7 }))
  (defun balance:decimal (name:string) (at "balance" (read accounts name)))
  (defun row:object{account} (name:string) (read accounts name))
  (defun transfer:string (from:string to:string amount:decimal)
    (enforce (> amount 0.0) "positive")
    (with-capability (TRANSFER from to amount)
      (update accounts from { "balance": (- (balance from) amount) })
      (with-default-read accounts to { "balance": -1.0 } { "balance":= before }
        (if (< before 0.0)
          (write accounts to { "balance": amount, "guard": (at "guard" (read accounts from)),
            "since": (time "2024-02-03T04:05:06Z"), "notes": [], "count": 0 })
          (update accounts to { "balance": (+ before amount) })))))
  (defun names:[string] () (keys accounts))
  (defun rich:[object] () (select accounts ["balance"] (where "balance" (< 100.0))))
  (defun cautious:decimal (name:string) (try -1.0 (balance name)))
  (defun either:bool (name:string)
    (enforce-one "none" [(enforce (> (balance name) 1.0) "first") (enforce true "second")]))
  (defun coins:decimal (name:string) (at "balance" (details name)))
  (defpact steps:string (name:string)
    (step (let ((data { "name": name, "paid": 1.25 })) (yield data) name))
    (step (resume { "name":= name, "paid":= paid } (format "{} {}" [name paid])))
    (step "over"))
)
(create-table accounts)
(use free.fork-token [FIRST])
(module fork-second GOVERNANCE
  (defcap GOVERNANCE () true)
  (defun twice:decimal () (* 2.0 FIRST))
  (defun fails:string ()

    (enforce false "on purpose"))
)`

export const KEYSET = { keys: [funded.publicKey], pred: 'keys-all' }

/** A command with data. */
export const execWith = (code: string, data: Change, meta: Change = {}, change: Change = {}) =>
  signed(meta, { payload: { exec: { code, data } }, ...change })

/** Sends commands of chain 0, and makes the block that holds them. */
export async function inBlock(peer: CheckedPeer, commands: readonly { readonly hash: string }[], chain = 0) {
  const sent = await send(peer, commands, chain)
  expect(sent.status, sent.body.toString()).toBe(200)
  await makeBlocks(peer, { [chain]: 1 })
  const results = jsonOf(
    await poll(
      peer,
      commands.map(({ hash }) => hash),
      '',
      chain,
    ),
  )
  return commands.map(({ hash }) => results[hash])
}

/** A node with the token, the accounts alice and bob, and some coins. */
export async function startRemote(): Promise<Started> {
  const remote = await startLedger()
  await deployToken(remote.peer)
  return remote
}

/**
 * Such a node for all tests of a file: forks leave it as it is. Tests may add blocks to it, and each begins with chains of
 * one height. Reorganisations need a node of their own.
 * @param more numbers of further blocks, under their chain
 */
export function remoteOfFile(more?: Readonly<Record<number, number>>): Started {
  const remote = sharedLedger({}, {}, async ({ peer }) => {
    await deployToken(peer)
    if (more !== undefined) await makeBlocks(peer, more)
  })
  let started: Started
  beforeEach(async () => {
    started = await remote()
    await level(started)
  })
  return {
    get devnet() {
      return started.devnet
    },
    get peer() {
      return started.peer
    },
    get additions() {
      return started.additions
    },
  }
}

/** Makes blocks until all chains are as high as the highest. */
async function level({ devnet, peer }: Started): Promise<void> {
  const heights = () => [...devnet.cut].map(([chain, { height }]) => [chain, Number(height)] as const)
  const highest = Math.max(...heights().map(([, height]) => height))
  for (;;) {
    const low = heights().filter(([, height]) => height < highest)
    if (low.length === 0) return
    await makeBlocks(peer, Object.fromEntries(low.map(([chain]) => [chain, 1])))
  }
}

/** Deploys the token, and opens the accounts alice and bob. */
export async function deployToken(peer: CheckedPeer): Promise<void> {
  const data = { owner: 'the deployer', k: KEYSET }
  const limit = { gasLimit: 100_000 }
  const deployed = await inBlock(peer, [execWith(TOKEN, data, limit)])
  expect(deployed[0].result).toEqual({ status: 'success', data: expect.stringContaining('fork-second') })
  const opened = await inBlock(peer, [
    execWith('(free.fork-token.open "alice" (read-keyset "k"))', data),
    execWith('(free.fork-token.open "bob" (read-keyset "k"))', data),
    execWith('(namespace "free") (define-keyset "free.known" (read-keyset "k"))', data),
    exec('(free.fork-token.steps "alice")'),
  ])
  expect(opened.map(({ result }) => result.status)).toEqual(Array(4).fill('success'))
  // The other chain must be as high, because a pin has one height.
  await makeBlocks(peer, { 0: 2, 1: 2 })
}

/** Orders a reorganisation of chain 0. */
export async function reorganise({ devnet }: Pick<Started, 'devnet'>, depth: number): Promise<void> {
  const response = await fetch(`${devnet.url}/devnet/fork`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chain: 0, depth }),
  })
  expect(response.status, await response.text()).toBe(200)
}

/** A folder for one test. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'newcut-fork-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

export interface Forked extends Started {
  readonly proxy: NodeProxy
}

/** A fork of a node, through a proxy, at the current heads. */
export async function startFork(
  remote: Pick<Started, 'devnet'>,
  fork: Partial<DevnetFork> = {},
  options: Parameters<typeof start>[0] = {},
  machine: Parameters<typeof start>[1] = {},
  manner: Manner = honest,
): Promise<Forked> {
  const proxy = await proxyTo(remote.devnet.url)
  proxy.manner = manner
  const lowest = Math.min(...[...remote.devnet.cut.values()].map(({ height }) => Number(height)))
  const forked = await start(
    {
      difficulty: undefined,
      autoMine: { kind: 'on-demand' },
      ...options,
      fork: { url: proxy.url, cut: String(lowest), perSecond: 1000, ...fork },
    },
    machine,
  )
  return { ...forked, proxy }
}
