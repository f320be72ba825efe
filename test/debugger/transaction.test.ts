/** Transactions of a development network and of a fork of it, and test files that fork it, in the debugger. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { run, runProcess, startHere, stopAll } from '../cli/run.ts'
import { DapEditor } from './dap-client.ts'
import { fileWith } from './programs.ts'

let origin: string
let fork: string

async function startNode(...args: string[]): Promise<string> {
  const node = startHere(['devnet', '--port', '0', '--graph', 'singleton', '--auto-mine', 'on-arrival', ...args])
  return (await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/))[1]
}

/** Sends code, and returns its request key once it is in a block. */
async function sent(
  node: string,
  code: string,
  ...more: string[]
): Promise<{ readonly key: string; readonly gas: number }> {
  const { out } = await run(['send', code, '--key', 'sender00', '--no-preflight', '--json', '--node', node, ...more])
  const { requestKey: key, gas } = JSON.parse(out)
  return { key, gas }
}

const transfer = '(coin.transfer "sender00" "sender01" 1.5)'
const caps = ['--cap', '(coin.GAS)', '--cap', '(coin.TRANSFER "sender00" "sender01" 1.5)']

beforeAll(async () => {
  origin = await startNode()
  await sent(origin, transfer, ...caps)
  fork = await startNode('--fork', origin, '--fork-cache', 'off', '--fork-cut', '1')
})
afterAll(() => stopAll())

let editor: DapEditor
const open = async (args: object) => {
  editor = new DapEditor()
  await editor.open(args)
}
afterEach(() => editor?.close())

describe.each([
  ['a development network', () => origin],
  ['a fork of one', () => fork],
])('a transaction of %s', (_, nodeOf) => {
  it('the debugger steps through its code and modules of the chain, with the gas of its block', async () => {
    const { key, gas } = await sent(nodeOf(), transfer, ...caps)
    await open({ requestKey: key, node: nodeOf(), stopOnEntry: true })
    expect(await editor.begin()).toMatchObject({ reason: 'entry' })
    expect(await editor.stack()).toEqual(['top level transaction.pact:1'])
    await editor.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'coin.debit' }] })
    await editor.stopsAfter(() => editor.continueRequest({ threadId: 1 }))
    const { body } = await editor.stackTraceRequest({ threadId: 1 })
    const [{ source, line }] = body.stackFrames
    const text = await editor.sourceRequest({ sourceReference: source?.sourceReference ?? 0 })
    expect(text.body.content.split('\n')[line - 1]).toContain('(validate-account account)')
    expect((await editor.stack()).map((frame) => frame.split(' ')[0])).toEqual(['coin.debit', 'coin.transfer', 'top'])
    expect(await editor.scope('Arguments')).toEqual(['account: "sender00"', 'amount: 1.5'])
    expect(await editor.scope('Gas')).toEqual([expect.stringMatching(/^code: [\d.]+ of 2500$/)])
    expect(await editor.scope('Capabilities')).toContain('(coin.TRANSFER "sender00" "sender01" 1.5): managed, left 0.0')
    // The transaction does not read this row.
    expect(await editor.value('(coin.get-balance "sender07")')).toMatch(/^\d+\.\d+$/)
    await editor.setFunctionBreakpointsRequest({ breakpoints: [] })
    const ended = editor.waitForEvent('terminated')
    await editor.continueRequest({ threadId: 1 })
    await ended
    expect(editor.output).toBe(`success, gas ${gas}: "Write succeeded"\n`)
  })
})

it('newcut debug shows where a transaction failed, and goes back to the write of its gas', async () => {
  const { key } = await sent(origin, '(enforce (= 1 2)\n  "no luck")')
  const commands = ['catch uncaught', 'run', 'where', 'back', 'where', 'quit']
  const { out, code } = await runProcess(['debug', key, '--node', origin], {}, `${commands.join('\n')}\n`)
  expect(code).toBe(0)
  expect(out.trimEnd().split('\n').slice(2)).toEqual([
    'stops at failures: uncaught',
    'failure in top level, transaction.pact:1:1: no luck',
    '> 1  (enforce (= 1 2)',
    '> 0 top level  transaction.pact:1:1',
    expect.stringMatching(/^back in coin\.debit, coin\.pact:\d+:\d+: before the write of coin\.coin-table sender00$/),
    expect.stringMatching(/^> \d+ +\(update coin-table account/),
    expect.stringMatching(/^> 0 coin\.debit /),
    expect.stringMatching(/^ {2}1 coin\.buy-gas /),
  ])
})

/** The first ends by its gas, and the second by the count of work long before. */
const HOSTILE = [
  '(map (lambda (x) (fold (+) 0 (enumerate 1 1000))) (enumerate 1 100000))',
  '(let ((h (shift 1 400000))) (fold (lambda (a i) [h] i) 0 (enumerate 1 100000)))',
]

it.each(HOSTILE)(
  'code that runs on and on ends alike in a block, a simulation, a trace and the debugger: %s',
  async (code) => {
    const { key } = await sent(origin, code, '--gas-limit', '10000')
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${origin}/devnet/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      return (await answer.json()) as Record<string, unknown>
    }
    const spent = { status: 'failure', error: { message: expect.stringContaining('Gas limit "10000" exceeded: ') } }
    const blocks = [{ chains: { 0: [{ code, gasLimit: 10_000 }] } }]
    const simulated = { commands: [{ result: spent, gas: 10_000 }], gas: 10_000 }
    expect(await post('simulate', { trace: true, blocks })).toMatchObject(simulated)
    expect(await post('trace', { requestKey: key })).toMatchObject({ status: 'failure', gas: 10_000, result: spent })
    const { out } = await runProcess(['debug', key, '--node', origin], {}, 'catch none\nrun\nquit\n')
    expect(out).toContain('\nfailure, gas 10000: Gas limit "10000" exceeded: ')
    expect((await fetch(`${origin}/health-check`)).status).toBe(200)
  },
)

it('a key of no transaction, and a node that is not there, are refused in words, and the node serves on', async () => {
  const key = 'A'.repeat(43)
  editor = new DapEditor()
  await expect(editor.open({ requestKey: key, node: origin })).rejects.toThrow(
    `no block of this network has a transaction ${key}`,
  )
  await expect(editor.open({ requestKey: key, node: 'http://127.0.0.1:1' })).rejects.toThrow('127.0.0.1:1')
  const { code, err } = await run(['debug', key, '--node', origin])
  expect([code, err]).toEqual([expect.any(Number), expect.stringContaining('no block of this network')])
  expect((await fetch(`${origin}/health-check`)).status).toBe(200)
})

describe('a test file on the state of a network', () => {
  const reads = '(coin.get-balance "sender03")\n(expect "sum" 2.0\n  (+ 1.0 1.0))'

  it('the debugger steps through forked modules, in a file that calls env-fork', async () => {
    const file = fileWith(`(env-fork "${origin}" {"cache": "off", "cut": 1})\n${reads}`)
    await open({ program: file })
    await editor.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'coin.get-balance' }] })
    const [line] = await editor.lines(file, { line: 4 })
    expect(line).toMatchObject({ verified: true, line: 4 })
    expect(await editor.begin()).toMatchObject({ reason: 'breakpoint' })
    expect((await editor.stack()).map((frame) => frame.replace(/\d+$/, ''))).toEqual([
      'coin.get-balance coin.pact:',
      'top level test.repl:',
    ])
    expect(await editor.scope('Arguments')).toEqual(['account: "sender03"'])
    expect(await editor.value('(coin.get-balance account)')).toMatch(/^\d+\.\d+$/)
    // The file reads this row nowhere: the debugger fetches it, and the program stays where it is.
    expect(await editor.value('(coin.get-balance "sender09")')).toMatch(/^\d+\.\d+$/)
    expect(await editor.scope('Arguments')).toEqual(['account: "sender03"'])
    const { body } = await editor.stackTraceRequest({ threadId: 1 })
    const [{ source, line: at }] = body.stackFrames
    const text = await editor.sourceRequest({ sourceReference: source?.sourceReference ?? 0 })
    expect(text.body.content.split('\n')[at - 1]).toContain('(with-read coin-table account')
    await editor.stopsAfter(() => editor.continueRequest({ threadId: 1 }))
    expect(await editor.stack()).toEqual(['top level test.repl:4'])
    await editor.stopsAfter(() => editor.reverseContinueRequest({ threadId: 1 }))
    expect((await editor.stack())[0]).toMatch(/^coin\.get-balance /)
  })

  it('newcut debug --fork runs a file on a fork, and newcut dap does with "fork"', async () => {
    const file = fileWith(reads)
    const commands = 'break coin.get-balance\nrun\nwhere\nrun\nquit\n'
    const cut = ['--fork', origin, '--fork-cut', '1', '--fork-cache', 'off']
    const { out, code } = await runProcess(['debug', file, ...cut], {}, commands)
    expect(code).toBe(0)
    expect(out.trimEnd().split('\n').slice(3)).toEqual([
      expect.stringMatching(/^breakpoint in coin\.get-balance, coin\.pact:\d+:\d+$/),
      expect.stringMatching(/^> \d+ +\(with-read coin-table account /),
      expect.stringMatching(/^> 0 coin\.get-balance +coin\.pact:\d+:\d+$/),
      expect.stringMatching(/^ {2}1 top level +test\.repl:1:1$/),
      'passed: sum',
      '1 passed, 0 failed',
      'the program has ended: back and previous go back, run begins again',
    ])
    await open({ program: file, fork: origin, forkOptions: { cut: 1, cache: 'off' } })
    const ended = editor.waitForEvent('terminated')
    await editor.configurationDoneRequest()
    await ended
    expect(editor.output).toBe('passed: sum\n1 passed, 0 failed\n')
  })

  it('a fork that cannot be opened ends the program in words, as do options that no fork has', async () => {
    const file = fileWith(reads)
    editor = new DapEditor()
    await expect(editor.open({ program: file, fork: origin, forkOptions: { cutt: 1 } })).rejects.toThrow(
      'launch: "cutt" is not an option; did you mean cut?',
    )
    const { out } = await runProcess(['debug', file, '--fork', origin, '--fork-cut', '999999'], {}, 'run\n')
    expect(out).toMatch(/^the program cannot go on: .*999999/)
  })
})
