/** A misspelled name of any kind gets the right one as a question. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { chooseAdapters } from '../../src/mining/engine/gpu/adapters.ts'
import { run } from './run.ts'

let devnet: Devnet
let folder: string

beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'singleton', autoMine: { kind: 'on-demand' } })
  folder = mkdtempSync(join(tmpdir(), 'newcut-typos-'))
  writeFileSync(join(folder, 'token.pact'), '(module token G (defcap G () true))')
  writeFileSync(join(folder, 'token.repl'), '(expect "one" 1 1)')
  writeFileSync(join(folder, 'settings.yaml'), 'threads: 1')
})
afterAll(async () => {
  await devnet.close()
  rmSync(folder, { recursive: true })
})

/** All that a command prints. `FOLDER/` stands for the folder with files. */
async function printed(words: readonly string[]): Promise<string> {
  const args = words.map((word) => word.replace('FOLDER', folder))
  const { out, err } = await run(args, { NEWCUT_NODE: devnet.url })
  return (out + err).replaceAll(folder, 'FOLDER')
}

describe('a misspelled name', () => {
  it.each<[kind: string, args: readonly string[], guess: string]>([
    ['command', ['devnt'], 'devnet'],
    ['command of help', ['help', 'paytous'], 'payouts'],
    ['command of config', ['config', 'mien'], 'mine'],
    ['control request', ['devnet', 'snapsot'], 'devnet snapshot'],
    ['check of rigs', ['rigs', 'chek'], 'rigs check'],
    ['fleet action', ['fleet', 'puase'], 'pause'],
    ['shell', ['completion', 'bsh'], 'bash'],
    ['option', ['mine', '--threds', '2'], '--threads'],
    ['option with a value', ['mine', '--thread=2'], '--threads'],
    ['option of another miner', ['mine', '-u', 'k:1'], '--account'],
    ['beginning of an option', ['mine', '--network', 'stoa'], '--network-file'],
    ['kernel', ['mine', '--kernel', 'atuo'], 'auto'],
    ['log level', ['mine', '--log-level', 'WRAN'], 'warn'],
    ['fork vote', ['mine', '--fork-vote', 'yse'], 'yes'],
    ['aim', ['mine', '--tune-for', 'eficiency'], 'efficiency'],
    ['model of payouts', ['payouts', '--scheme', 'PPNLS'], 'pplns'],
    ['graph', ['devnet', '--graph', 'peterson'], 'petersen'],
    ['mode of blocks', ['devnet', '--auto-mine', 'on-arival'], 'on-arrival'],
    ['mode with a time', ['devnet', '--auto-mine', 'constnat:2s'], 'constant:2s'],
    ['network', ['devnet', '--network', 'developement'], 'development'],
    ['endpoint', ['devnet', 'faults', 'ct'], 'cut'],
    ['account', ['balance', 'sender0'], 'sender00'],
    ['sender', ['transfer', 'sendr00', 'sender01', '1', '--key', 'sender00'], 'sender00'],
    ['receiver', ['transfer', 'sender00', 'sender1', '1', '--key', 'sender00'], 'sender01'],
    ['key', ['send', '1', '--key', 'sendr00'], 'sender00'],
    ['member of a module', ['local', '(coin.detials "sender00")'], 'coin.details'],
    ['module', ['local', '(con.details "sender00")'], 'coin.details'],
    ['native', ['local', '(lenght [1])'], 'length'],
    ['member in a transaction', ['send', '(coin.get-balnce "a")', '--key', 'sender00'], 'coin.get-balance'],
    ['contract of declarations', ['types', 'con'], 'coin'],
    ['file of code', ['local', 'FOLDER/token.pct'], 'token.pact'],
    ['contract', ['send', 'FOLDER/tokn.pact', '--key', 'sender00'], 'token.pact'],
    ['test file', ['test', 'FOLDER/token.rpl'], 'token.repl'],
    ['test file of the debugger', ['debug', 'FOLDER/token.rep'], 'token.repl'],
    ['file to format', ['format', 'FOLDER/token.pat'], 'token.pact'],
    ['configuration file', ['mine', '--config', 'FOLDER/setings.yaml'], 'settings.yaml'],
    ['file of a network', ['mine', '--network-file', 'FOLDER/setting.yaml'], 'settings.yaml'],
  ])('a misspelled %s gets a guess: newcut %j', async (_, args, guess) => {
    expect(await printed(args)).toContain(`did you mean ${guess}?`)
  })

  it('a misspelled word for all GPUs or none gets a guess, and a name of no GPU lists those that are here', () => {
    const cards = [{ name: 'Big Card', software: false }] as unknown as Parameters<typeof chooseAdapters>[1]
    expect(() => chooseAdapters('nnone', cards, false)).toThrow(
      expect.objectContaining({
        message: '`gpu: nnone`: no such GPU; did you mean none?',
        hint: 'GPUs here: 0 (Big Card)',
      }),
    )
    expect(() => chooseAdapters('7', [], false)).toThrow(
      expect.objectContaining({ message: '`gpu: 7`: no such GPU', hint: 'newcut finds no GPU here' }),
    )
  })
})

it.each([
  ['an account', ['balance', 'somebody-else'], 'somebody-else: on none of the 1 chains\n'],
  ['a member', ['local', '(coin.something-else)'], 'no such member: something-else [COMMAND_FAILED]\n'],
  ['a module', ['local', '(elsewhere.details)'], 'Module elsewhere has no such member: details [COMMAND_FAILED]\n'],
])('%s without a similar name gets no guess', async (_, args, end) => {
  expect(await printed(args)).toMatch(new RegExp(`${end.replace(/[()[\]]/g, '\\$&')}$`))
})

it('--gpu off mines without GPUs, as --gpu none does', async () => {
  const { out } = await run(['config', 'mine'], { NEWCUT_GPU: 'off' })
  expect(out).toMatch(/^gpu: none # environment$/m)
})
