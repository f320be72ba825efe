/** Random commands on a fork: results, events and gas are those of the forked node, and fetched once. */
import { expect, it } from 'vitest'
import { signed } from '../devnet/command.ts'
import { exec, local, makeBlocks, signers } from '../devnet/commands-common.ts'
import type { Started } from '../devnet/common.ts'
import { rotating } from '../rotation.ts'
import { execWith, folder, inBlock, KEYSET, startFork, startRemote } from './network.ts'

const COMMANDS = 1000
const COMMANDS_OF_A_RUN = 150
const AT_ONCE = 6
const ACCOUNTS = [
  'alice',
  'bob',
  'carol',
  'dave',
  'sender00',
  'sender01',
  'sender02',
  'nobody',
  'k:11',
  'Ünicode "x" \\\\ y',
]

/** Numbers in [0, 1) from a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

interface Drawn {
  readonly command: unknown
  readonly query: string
}

function draw(random: () => number, pact: string): Drawn {
  const one = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)]
  const account = () => JSON.stringify(one(ACCOUNTS))
  const amount = () => (Math.floor(random() * 20_000) - 1000) / 100
  const preflight = '&preflight=true'
  const limit = { gasLimit: 150_000 }
  const moved = (module: string, code: string, from: string, to: string, coins: number): Drawn => ({
    command: exec(code, { gasLimit: one([400, 2500]) }, signers(['coin.GAS'], [`${module}.TRANSFER`, from, to, coins])),
    query: preflight,
  })
  const kinds: readonly (() => Drawn)[] = [
    () => ({ command: exec(`(coin.details ${account()})`), query: '' }),
    () => ({ command: exec(`(coin.get-balance ${account()})`, { gasLimit: one([3, 100]) }), query: '' }),
    () => ({ command: exec(`(free.fork-token.row ${account()})`), query: '' }),
    () => ({ command: exec(`(map (lambda (n) (free.fork-token.cautious n)) [${account()} ${account()}])`), query: '' }),
    () => ({ command: exec(`(free.fork-token.either ${account()})`), query: '' }),
    () => ({
      command: exec(one(['(free.fork-token.names)', '(free.fork-token.rich)', '(keys coin.coin-table)']), limit),
      query: '',
    }),
    () => ({
      command: exec(one(['(list-modules)', '(describe-module "coin")', '(at "hash" (describe-module "ns"))'])),
      query: '',
    }),
    () => ({
      command: exec(`[free.fork-token.OWNER (free.fork-second.twice) (free.fork-token.coins ${account()})]`),
      query: '',
    }),
    () => ({
      command: exec(one(['(free.fork-second.fails)', '(describe-keyset "free.known")', '(describe-keyset "x.y")'])),
      query: '',
    }),
    () => {
      const [to, coins] = [one(ACCOUNTS), amount()]
      return moved(
        'coin',
        `(coin.transfer "sender00" ${JSON.stringify(to)} ${coins.toFixed(2)})`,
        'sender00',
        to,
        coins,
      )
    },
    () => {
      const [from, to, coins] = [one(['alice', 'bob', 'carol']), one(ACCOUNTS), amount()]
      const code = `(free.fork-token.transfer "${from}" ${JSON.stringify(to)} ${coins.toFixed(2)})`
      return moved('free.fork-token', code, from, to, coins)
    },
    () => ({
      command: execWith(`(free.fork-token.open ${account()} (read-keyset "k"))`, { k: KEYSET }),
      query: preflight,
    }),
    () => ({
      command: execWith('(coin.transfer-create "sender00" "new" (read-keyset "k") 1.0)', { k: KEYSET }),
      query: preflight,
    }),
    () => {
      const code = `(namespace "free") (module m${Math.floor(random() * 9)} G (use free.fork-token) (implements gas-payer-v1)
        (defcap G () true) (defun f (a) (+ (balance a) (coin.get-balance a))))`
      return {
        command: exec(random() < 0.5 ? code : code.replace('(implements gas-payer-v1)', ''), limit),
        query: preflight,
      }
    },
    () => {
      const cont = { pactId: pact, step: one([0, 1, 1, 2]), rollback: false, data: {}, proof: null }
      return { command: signed({}, { payload: { cont } }), query: preflight }
    },
    () => ({
      command: execWith(`(namespace "free") (define-keyset "free.k${Math.floor(random() * 3)}" (read-keyset "k"))`, {
        k: KEYSET,
      }),
      query: preflight,
    }),
  ]
  return one(kinds)()
}

/** Answers of a node to all commands. */
async function answers(node: Started, depth: number, drawn: readonly Drawn[]): Promise<string[]> {
  const texts: string[] = []
  let next = 0
  const worker = async () => {
    for (let i = next++; i < drawn.length; i = next++) {
      const { command, query } = drawn[i]
      const { status, body } = await local(node.peer, command, `?rewindDepth=${depth}${query}`)
      texts[i] = `${status} ${body.toString()}`
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return texts
}

it('a fork gives the results, events and gas of the forked node for random commands, and requests nothing twice', async () => {
  const remote = await startRemote()
  const begun = exec('(free.fork-token.steps "bob")', { ttl: 3600 })
  expect((await inBlock(remote.peer, [begun]))[0].result.status).toBe('success')
  const cacheFolder = folder()
  const forked = await startFork(remote, { cacheFolder })
  await makeBlocks(remote.peer, { 0: 3 })
  const pin = forked.devnet.fork?.pin.height ?? 0
  const depth = Number(remote.devnet.cut.get(0)?.height) - pin
  const random = randomFrom(36)
  const all = Array.from({ length: COMMANDS }, () => draw(random, begun.hash))
  const drawn = rotating(all, COMMANDS_OF_A_RUN)
  const [there, here] = await Promise.all([answers(remote, depth, drawn), answers(forked, 0, drawn)])
  for (const [i, answer] of here.entries()) expect(answer, JSON.stringify(drawn[i].command)).toBe(there[i])
  const failures = there.filter((answer) => answer.includes('"status":"failure"')).length
  expect(failures).toBeGreaterThan(drawn.length / 20)
  expect(failures).toBeLessThan(drawn.length / 1.5)
  const again = await startFork(remote, { cacheFolder, cut: String(pin) })
  expect(await answers(again, 0, drawn)).toEqual(here)
  expect(again.proxy.seen).toEqual([])
})
