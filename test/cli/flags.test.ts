import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { writeFlags } from '../../src/faces/cli/config-file.ts'
import { flagsOfOptions } from '../../src/faces/cli/options/devnet.ts'
import { paceSearch } from '../pace.ts'
import { exitCodeFor, run, SMALL_SEARCH } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-flags-'))
afterAll(() => rmSync(folder, { recursive: true }))

paceSearch()

const KEY = 'ab'.repeat(32)

/** Runs a command that must fail with one line and its exit code, and returns that line. */
async function errorOf(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const ended = await run(args, env)
  expect(ended).toMatchObject({ code: exitCodeFor(ended), out: '' })
  expect(ended.err).toMatch(/^newcut: .* \[[A-Z_]+\]\n$/)
  return ended.err
}

describe('newcut, when a flag is given twice,', () => {
  it.each([
    [['balance', '--node', 'a:1', '--node', 'b:2'], '--node is given twice: a:1 and b:2'],
    [['mine', '--threads', '1', '--threads=1'], '--threads is given twice: 1 and 1'],
    [['devnet', '--port', '0', '--port', '1'], '--port is given twice: 0 and 1'],
    [['config', '--config', 'a', '--config', 'b'], '--config is given twice: a and b'],
    [['bench', '--json', 'a', '--json', 'b'], '--json is given twice: a and b'],
  ])('newcut refuses a flag that is given twice: %j', async (args, message) => {
    expect(await errorOf(args)).toContain(`${message} (give it once) [BAD_OPTION]`)
  })

  it('newcut mine accepts --public-key several times', async () => {
    const { code, out } = await run(['config', '--public-key', KEY, '--public-key', 'cd'.repeat(32)])
    expect(code).toBe(0)
    expect(out).toContain(`public-key: [ ${KEY}, ${'cd'.repeat(32)} ] # flag`)
  })
})

describe('newcut mine --chains', () => {
  it('newcut mine --chains refuses chains that the network does not have', async () => {
    const { code, err } = await run([
      'mine',
      '--graph',
      'petersen',
      '--chains',
      '0,9-11',
      '--http',
      'off',
      ...SMALL_SEARCH,
    ])
    expect(err).toMatch(
      /^newcut: --chains: development at \S+ has no chain 10, 11 \(its chains are 0 to 9\) \[BAD_OPTION\]\n$/,
    )
    expect(code).toBe(2)
  })

  it.each(['', 'x', '3-1', '-1', '0,256', '1.5'])('newcut mine --chains refuses %j', async (list) => {
    expect(await errorOf(['config', `--chains=${list}`])).toContain('chains from 0 to 255, such as 3, 0,5 or 0-9')
  })

  it('newcut mine --chains reads ranges, and a list in a file', async () => {
    expect((await run(['config', '--chains', '7,0-2', '--chains', '1'])).out).toContain('chains: [ 0, 1, 2, 7 ] # flag')
    const file = join(folder, 'chains.yaml')
    writeFileSync(file, 'chains: [4, 2-3]\n')
    expect((await run(['config', '--config', file])).out).toContain('chains: [ 2, 3, 4 ] # ')
  })
})

describe('newcut, when a flag has no effect,', () => {
  it.each([
    [['--command', 'solve'], '--command has no effect: it is for --engine external'],
    [['--engine', 'external', '--command', 'x', '--threads', '2'], '--threads has no effect: with --engine external'],
    [['--engine', 'external', '--command', 'x', '--kernel', 'js'], '--kernel has no effect: with --engine external'],
    [['--engine', 'external', '--command', 'x', '--gpu', 'all'], '--gpu has no effect: with --engine external'],
    [['--gpu', 'none', '--gpu-workgroup', '64'], '--gpu-workgroup has no effect: with --gpu none'],
    [['--gpu', 'none', '--gpu-batch-ms', '9'], '--gpu-batch-ms has no effect: with --gpu none'],
    [['--gpu', 'none', '--retune'], '--retune has no effect: with --gpu none'],
    [['--gpu', 'none', '--allow-software'], '--allow-software has no effect: with --gpu none'],
    [['--allow-software'], '--allow-software has no effect: --gpu auto uses physical GPUs only'],
    [['--threads', '0', '--kernel', 'js'], '--kernel has no effect: with --threads 0'],
    [['--node', 'a:1', '--graph', 'pair'], '--graph has no effect: it is for the embedded network'],
    [['--node', 'a:1', '--no-pow'], '--no-pow has no effect: it is for the embedded network'],
    [['--node', 'a:1', '--insecure'], '--insecure has no effect: http://a:1 does not use TLS'],
    [['--node', 'a:1', '--fingerprint', KEY], 'http://a:1 does not use TLS'],
    [['--node', 'https://a:1', '--fingerprint', KEY, '--insecure'], '--insecure has no effect: --fingerprint decides'],
    [['--insecure'], '--insecure has no effect: without --node'],
    [['--fail-fast'], '--fail-fast has no effect: without --node'],
    [['--failback', '30s'], '--failback has no effect: without --node'],
    [['--node', 'a:1', '--failback', '30s'], '--failback has no effect: there is only one --node'],
    [['--node', 'a:1', '--node', 'b:1', '--insecure'], '--insecure has no effect: http://a:1 does not use TLS'],
  ])('newcut mine refuses a flag that has no effect: %j', async (args, message) => {
    expect(await errorOf(['mine', ...args])).toContain(message)
  })

  it('newcut devnet --check refuses an option of a running node', async () => {
    const args = ['devnet', '--data', folder, '--check', '--port', '0']
    expect(await errorOf(args)).toContain('--port has no effect: --check starts no node')
  })

  it('newcut mine refuses --gpu-workgroup where no GPU can search', async () => {
    const args = ['mine', '--graph', 'pair', '--gpu-workgroup', '64']
    expect((await run(args)).err).toContain(
      '--gpu-workgroup has no effect: no GPU would mine (GPUs do not search work of this network)',
    )
  })

  it('newcut mine accepts an option without effect in a file or the environment, which other commands share', async () => {
    const file = join(folder, 'all.yaml')
    writeFileSync(file, 'command: solve\ngraph: pair\n')
    const env = { NEWCUT_GPU_WORKGROUP: '64', NEWCUT_CONFIG: file }
    const args = ['mine', '--blocks', '1', '--difficulty', '1k', '--http', 'off', ...SMALL_SEARCH]
    const { code, out } = await run(args, env)
    expect(out).toContain('1 accepted')
    expect(code).toBe(0)
  })
})

describe('newcut suggests its own option for one of another miner', () => {
  it.each([
    [['mine', '-o', 'http://a:1'], '-o: no such option; did you mean --node?'],
    [['mine', '-ohttp://a:1'], '-ohttp://a:1: no such option; did you mean --node?'],
    [['mine', '--url', 'a:1'], '--url: no such option; did you mean --node?'],
    [['mine', '--url=a:1'], '--url=a:1: no such option; did you mean --node?'],
    [['mine', '-u', 'k:1'], '-u: no such option; did you mean --account?'],
    [['mine', '--user', 'k:1'], '--user: no such option; did you mean --account?'],
    [['mine', '-t', '2'], '-t: no such option; did you mean --threads?'],
    [['mine', '--thread=2'], '--thread=2: no such option; did you mean --threads?'],
    [['devnet', '--data-dir', 'x'], '--data-dir: no such option; did you mean --data?'],
    [['mine', '-l', 'x.log'], '-l: no such option; did you mean --log-file?'],
    [['mine', '--quiet'], '--quiet: no such option; did you mean --log-level warn?'],
    [['devnet', '--verbose'], '--verbose: no such option; did you mean --log-level debug?'],
    [['-o', 'a:1'], '-o: no command has this option; did you mean --node? (a command comes first, such as newcut mine'],
    [['--node', 'a:1'], '--node: a command comes first (newcut mine --node)'],
  ])('newcut suggests its own option for one of another miner: %j', async (args, message) => {
    expect(await errorOf(args)).toContain(message)
  })
})

describe('newcut mine refuses an account that cannot be paid', () => {
  it.each([
    [['--account', `k:${KEY}`, '--public-key', 'cd'.repeat(32)], 'does not match --public-key'],
    [
      ['--predicate', 'keys-al'],
      '--predicate keys-al: no such predicate; did you mean keys-all? (built in are keys-all, keys-any, keys-2;',
    ],
  ])('newcut mine refuses an account that cannot be paid: %j', async (args, message) => {
    expect(await errorOf(['mine', ...args])).toContain(message)
  })
})

describe('errors of newcut', () => {
  it('errors of newcut are JSON with --log json, where the other records are', async () => {
    for (const [args, env] of [
      [['mine', '--thread', '2', '--log', 'json'], {}],
      [['mine', '--log=json', '--thread', '2'], {}],
      [['mine', '--thread', '2'], { NEWCUT_LOG: 'json' }],
    ] as const) {
      const { code, out, err } = await run(args, env)
      expect({ code, err }).toEqual({ code: 2, err: '' })
      expect(JSON.parse(out)).toEqual({
        level: 'error',
        time: expect.any(String),
        event: 'error',
        code: 'BAD_OPTION',
        message: expect.stringContaining('--thread'),
        hint: 'newcut mine --help-all lists them all',
      })
    }
  })

  it('errors of newcut are JSON where a configuration file asks for it', async () => {
    const file = join(folder, 'json.yaml')
    writeFileSync(file, 'log: json\n')
    const { code, out, err } = await run(['mine', '--config', file, '--node', '127.0.0.1:1', '--fail-fast'])
    expect({ code, err }).toEqual({ code: 20, err: '' })
    const records = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(records.at(-1)).toMatchObject({ level: 'error', code: 'NODE_UNREACHABLE', hint: expect.any(String) })
  })

  it('errors of newcut say only once that a node refuses the connection', async () => {
    expect((await run(['mine', '--node', '127.0.0.1:1', '--fail-fast'])).err).toBe(
      'newcut: http://127.0.0.1:1: connection refused (ECONNREFUSED) ' +
        '(is the node running, and its service API listening on that port?) [NODE_UNREACHABLE]\n',
    )
  })

  it('errors of newcut say only once what is wrong in a configuration file', async () => {
    const file = join(folder, 'broken.yaml')
    writeFileSync(file, 'threads: [1\n')
    const line = await errorOf(['mine', '--config', file])
    expect(line).toMatch(
      /^newcut: configuration file \S+broken\.yaml is not valid YAML: Flow sequence .* at line 2, column 1 \(its lines have/,
    )
    expect(line.match(/Flow sequence/g)).toHaveLength(1)
  })

  it('errors of newcut say only once which configuration file is missing', async () => {
    const file = join(folder, 'missing.yaml')
    expect(await errorOf(['mine', '--config', file])).toBe(
      `newcut: cannot read configuration file ${file}: it does not exist (ENOENT) (--config FILE names another file) [BAD_CONFIG]\n`,
    )
  })
})

it.each([['mien'], ['help', 'mien']])('newcut %s %s suggests the similar command, and lists none', async (...args) => {
  expect(await errorOf(args)).toMatch(
    /^newcut: mien: no such command; did you mean mine\? \(newcut --help lists all commands\) \[BAD_OPTION\]\n$/,
  )
})

describe('texts that name options as programs do', () => {
  it.each([
    ['choose another `port` (0 takes any free one)', 'choose another --port (0 takes any free one)'],
    ['or use another `dataDir`', 'or use another --data'],
    ['give more with `gasPrice`: at least 1', 'give more with --gas-price: at least 1'],
    ['`pow: false` starts one without', '--no-pow starts one without'],
    ['start it with `allowPrint: true`', 'start it with --allow-print'],
    ['`gpu: 3`: no such GPU', '--gpu 3: no such GPU'],
    ["add `cap: '(coin.GAS)'`", "add --cap '(coin.GAS)'"],
    ['`fork.tableRows` and `fork-cut`', '--fork-table-rows and --fork-cut'],
    ['the payment `result`, and `next` of a page', 'the payment `result`, and `next` of a page'],
  ])('texts that name options as programs do get the flags of the command: %s becomes %s', (text, written) => {
    expect(writeFlags(text)).toBe(written)
  })

  it.each(Object.entries(flagsOfOptions))('the option %s of a development network has the flag --%s', (name, flag) => {
    expect(writeFlags(`see \`${name}\``)).toBe(`see --${flag}`)
  })
})
