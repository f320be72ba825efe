/** `newcut dap` at the client of the protocol's authors. */
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { DebugProtocol } from '@vscode/debugprotocol'
import { afterEach, describe, expect, it } from 'vitest'
import { serveDap } from '../../src/commands/dap.ts'
import { until } from '../wait.ts'
import { DapEditor, DapEditorOfProcess } from './dap-client.ts'
import { bank, ENDLESS, fileWith } from './programs.ts'

let editor: DapEditor
const open = async (program = bank.repl, more: object = {}) => {
  editor = new DapEditor()
  await editor.open({ program, ...more })
  return editor
}
afterEach(() => editor.close())

describe('breakpoints', () => {
  it('a breakpoint in a loaded file stops there, with stack, arguments, capabilities, gas and rows', async () => {
    await open()
    expect(await editor.lines(bank.pact, { line: 20 })).toEqual([{ verified: true, line: 20 }])
    expect(await editor.begin()).toMatchObject({ reason: 'breakpoint', threadId: 1 })
    expect(await editor.stack()).toEqual(['bank.debit bank.pact:20', 'bank.pay bank.pact:24', 'top level bank.repl:9'])
    expect(await editor.scope('Arguments')).toEqual(['from: "alice"', 'amount: 3.0'])
    expect(await editor.scope('Variables')).toEqual(['balance: 10.0'])
    expect(await editor.scope('Arguments', 2)).toEqual(['from: "alice"', 'to: "bob"', 'amount: 3.0'])
    expect(await editor.scope('Capabilities')).toEqual([
      '(bank.PAY "alice" "bob" 3.0): granted',
      '(bank.DEBIT "alice"): granted, part of bank.PAY',
      '(bank.PAY "alice" "bob" 5.0): managed, left 2.0',
    ])
    expect(await editor.scope('Rows of the transaction')).toEqual(['with-read bank.accounts alice: {"balance": 10.0}'])
    const [gas] = await editor.scope('Gas')
    expect(gas).toMatch(/^file so far: \d+\.\d+$/)
  })

  it('a breakpoint moves to the next line with code, and below the last one there is no code', async () => {
    await open()
    expect(await editor.lines(bank.repl, { line: 6 }, { line: 99 })).toEqual([
      { verified: true, line: 7 },
      { verified: false, message: 'no code here, nor below' },
    ])
    await editor.begin()
    expect(await editor.stack()).toEqual(['top level bank.repl:7'])
  })

  it('a condition decides whether a breakpoint stops, and a log point prints instead', async () => {
    await open()
    await editor.lines(
      bank.pact,
      { line: 15, condition: '(= who "bob")' },
      { line: 18, logMessage: '{from} pays {(* 2.0 amount)}' },
    )
    await editor.begin()
    expect(await editor.scope('Arguments')).toEqual(['who: "bob"'])
    await editor.lines(bank.pact, { line: 18, logMessage: '{from} pays {(* 2.0 amount)}' })
    await editor.setExceptionBreakpointsRequest({ filters: [] })
    const ended = editor.waitForEvent('terminated')
    await editor.continueRequest({ threadId: 1 })
    await ended
    expect(editor.output).toContain('"alice" pays 6.0\n')
  })

  it('a number of hits decides whether a breakpoint stops, also on the way back', async () => {
    const file = fileWith('(map\n  (lambda (x)\n    (+ x 1))\n  [1 2 3 4 5 6])\n')
    await open(file)
    expect(await editor.lines(file, { line: 3, hitCondition: 'often' })).toEqual([
      { verified: false, message: 'often: expected a number of hits, such as 3, >= 3 or % 3' },
    ])
    await editor.lines(file, { line: 3, hitCondition: '% 2', condition: '(> x 1)' })
    const x = () => editor.scope('Variables')
    await editor.begin()
    expect(await x()).toEqual(['x: 3'])
    await editor.stopsAfter(() => editor.continueRequest({ threadId: 1 }))
    expect(await x()).toEqual(['x: 5'])
    await editor.stopsAfter(() => editor.reverseContinueRequest({ threadId: 1 }))
    expect(await x()).toEqual(['x: 3'])
    // Hits of another breakpoint count from the moment at which it is set.
    await editor.lines(file, { line: 3, hitCondition: '2' })
    await editor.stopsAfter(() => editor.continueRequest({ threadId: 1 }))
    expect(await x()).toEqual(['x: 5'])
  })

  it('a condition that has no truth value stops, and says why', async () => {
    await open()
    await editor.lines(bank.pact, { line: 15, condition: '(+ who 1)' })
    await editor.begin()
    expect(editor.output).toMatch(/^condition \(\+ who 1\): .*\+ .*string, integer/m)
  })

  it('a function breakpoint stops at the first code of the function, and other names are refused in words', async () => {
    await open()
    const { body } = await editor.setFunctionBreakpointsRequest({
      breakpoints: [{ name: 'bank.debit' }, { name: 'debit' }],
    })
    expect(body.breakpoints).toEqual([
      { verified: true },
      { verified: false, message: 'debit: expected module.function' },
    ])
    await editor.begin()
    expect(await editor.stack()).toEqual(['bank.debit bank.pact:17', 'bank.pay bank.pact:24', 'top level bank.repl:9'])
    // Other code of the same call does not stop again.
    await editor.stopsAfter(() => editor.continueRequest({ threadId: 1 }))
    expect(await editor.stack()).toEqual(['bank.debit bank.pact:17', 'top level bank.repl:11'])
  })

  it('a breakpoint stops at the first code of its line alone, not in the lambdas there', async () => {
    await open()
    await editor.lines(bank.repl, { line: 12 })
    await editor.begin()
    const ended = editor.waitForEvent('terminated')
    await editor.continueRequest({ threadId: 1 })
    await ended
  })

  it('a breakpoint on a function that never runs is reported at the end, with a similar name', async () => {
    await open()
    await editor.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'bank.debits' }] })
    const ended = editor.waitForEvent('terminated')
    await editor.configurationDoneRequest()
    await ended
    expect(editor.output).toContain('no function bank.debits has run; did you mean bank.debit?\n')
  })

  it('a row can be watched: the program stops when it is written', async () => {
    await open()
    await editor.lines(bank.repl, { line: 7 })
    await editor.begin()
    await editor.stopsAfter(() => editor.nextRequest({ threadId: 1 }))
    await editor.lines(bank.pact, { line: 26 })
    await editor.stopsAfter(() => editor.continueRequest({ threadId: 1 }))
    const { body: scopes } = await editor.scopesRequest({ frameId: 1 })
    const rows = scopes.scopes.find(({ name }) => name.startsWith('Rows'))?.variablesReference ?? 0
    const info = await editor.dataBreakpointInfoRequest({
      variablesReference: rows,
      name: 'with-default-read bank.accounts bob',
    })
    expect(info.body).toMatchObject({ description: 'writes of bank.accounts bob' })
    await editor.setDataBreakpointsRequest({ breakpoints: [{ dataId: String(info.body.dataId) }] })
    expect(await editor.stopsAfter(() => editor.continueRequest({ threadId: 1 }))).toMatchObject({
      reason: 'data breakpoint',
      text: 'bank.accounts bob',
    })
    expect(await editor.scope('Rows of the transaction')).toContain('write bank.accounts bob: balance: 10.0 -> 13.0')
  })
})

describe('steps', () => {
  it('steps lead into functions, over lines and out with the returned value', async () => {
    await open(bank.repl, { stopOnEntry: true })
    expect(await editor.begin()).toMatchObject({ reason: 'entry' })
    await editor.lines(bank.repl, { line: 9 })
    await editor.stopsAfter(() => editor.continueRequest({ threadId: 1 }))
    await editor.stopsAfter(() => editor.stepInRequest({ threadId: 1 }))
    expect(await editor.stack()).toEqual(['bank.pay bank.pact:23', 'top level bank.repl:9'])
    await editor.stopsAfter(() => editor.stepInRequest({ threadId: 1 }))
    expect((await editor.stack())[0]).toBe('capability bank.PAY bank.pact:9')
    await editor.stopsAfter(() => editor.stepOutRequest({ threadId: 1 }))
    expect(await editor.stack()).toEqual(['bank.pay bank.pact:24', 'top level bank.repl:9'])
    await editor.stopsAfter(() => editor.nextRequest({ threadId: 1 }))
    expect(await editor.stack()).toEqual(['bank.pay bank.pact:25', 'top level bank.repl:9'])
    await editor.stopsAfter(() => editor.stepOutRequest({ threadId: 1 }))
    expect(await editor.stack()).toEqual(['top level bank.repl:9'])
    expect(await editor.scope('Variables')).toEqual(['(returned): "Write succeeded"'])
  })

  it('steps lead back: by a line, to the last write of a row, and to the beginning', async () => {
    await open()
    await editor.lines(bank.pact, { line: 25 })
    await editor.begin()
    await editor.stopsAfter(() => editor.stepBackRequest({ threadId: 1 }))
    expect(await editor.stack()).toEqual(['bank.pay bank.pact:24', 'top level bank.repl:9'])
    await editor.stopsAfter(() => editor.stepBackRequest({ threadId: 1 }))
    await editor.stopsAfter(() => editor.stepBackRequest({ threadId: 1 }))
    expect(await editor.stack()).toEqual(['top level bank.repl:9'])
    await editor.stopsAfter(() => editor.reverseContinueRequest({ threadId: 1 }))
    expect(await editor.stack()).toEqual(['bank.open bank.pact:15', 'top level bank.repl:4'])
    await editor.stopsAfter(() => editor.reverseContinueRequest({ threadId: 1 }))
    expect(await editor.scope('Arguments')).toEqual(['who: "alice"'])
    const first = await editor.stopsAfter(() => editor.reverseContinueRequest({ threadId: 1 }))
    expect(first).toMatchObject({ text: 'the beginning of the program' })
    expect(await editor.stack()).toEqual(['top level bank.repl:1'])
    await editor.stopsAfter(() => editor.continueRequest({ threadId: 1 }))
    expect((await editor.stack())[0]).toBe('bank.pay bank.pact:25')
  })
})

describe('failures', () => {
  it('a failed expectation stops the program, and a caught failure only on request', async () => {
    await open()
    await editor.setExceptionBreakpointsRequest({ filters: ['expectations', 'uncaught'] })
    const stopped = await editor.begin()
    expect(stopped).toMatchObject({ reason: 'exception', text: 'failed: bob is rich: expected 14.0, got 13.0' })
    expect((await editor.exceptionInfoRequest({ threadId: 1 })).body.description).toContain('bob is rich')
    expect(await editor.stack()).toEqual(['top level bank.repl:13'])
    await editor.setExceptionBreakpointsRequest({ filters: ['all'] })
    await editor.stopsAfter(() => editor.customRequest('restart'))
    expect(await editor.stopsAfter(() => editor.continueRequest({ threadId: 1 }))).toMatchObject({
      reason: 'exception',
      text: expect.stringContaining('not granted'),
    })
    expect(await editor.stack()).toEqual(['bank.debit bank.pact:17', 'top level bank.repl:11'])
    expect(await editor.scope('Arguments')).toEqual(['from: "alice"', 'amount: 300.0'])
  })

  it('a failure that ends the file stops where it arises, not one that try catches', async () => {
    const file = fileWith(
      '(module m G (defcap G () true)\n (defun f (x)\n  (enforce (> x 0) "small")))\n(try 1 (f 0))\n(f 0)\n',
    )
    await open(file)
    await editor.setExceptionBreakpointsRequest({ filters: ['uncaught'] })
    expect(await editor.begin()).toMatchObject({ reason: 'exception', text: 'small' })
    expect(await editor.stack()).toEqual(['m.f test.repl:3', 'top level test.repl:5'])
    const ended = editor.waitForEvent('exited')
    await editor.continueRequest({ threadId: 1 })
    expect(((await ended) as DebugProtocol.ExitedEvent).body.exitCode).toBe(1)
  })

  it('a file that does not load ends with its place and its reason', async () => {
    await open(fileWith('(+ 1 2)\n(load "gone.pact")\n'))
    const ended = editor.waitForEvent('terminated')
    await editor.configurationDoneRequest()
    await ended
    expect(editor.output).toMatch(/test\.repl:2:1: .*gone\.pact/)
  })

  it('a launch without a file, or with one that is not there, is refused in words', async () => {
    editor = new DapEditor()
    await expect(editor.open({})).rejects.toThrow('give "program"')
    await expect(editor.open({ program: '/gone.repl' })).rejects.toThrow('there is no file /gone.repl')
    await expect(editor.nextRequest({ threadId: 1 })).rejects.toThrow('no program is open')
    await expect(editor.customRequest('fly')).rejects.toThrow('newcut dap has no such request')
  })
})

it('an expression sees the variables of its frame, and changes neither rows nor gas', async () => {
  await open()
  await editor.lines(bank.pact, { line: 20 })
  await editor.begin()
  const before = await editor.scope('Gas')
  expect(await editor.value('(- balance amount)')).toBe('7.0')
  expect(await editor.value('(bank.pay "alice" "bob" 1.0)', 3)).toBe('"Write succeeded"')
  expect(await editor.value('(balance from)', 2)).toBe('10.0')
  await expect(editor.value('(fold (+) 0 (enumerate 1 100000000))')).rejects.toThrow(/limit/i)
  await expect(editor.value('(env-data {})')).rejects.toThrow('env-data')
  await expect(editor.value('1 2')).rejects.toThrow('one expression is expected')
  await expect(editor.value('(')).rejects.toThrow()
  expect(await editor.scope('Gas')).toEqual(before)
  await editor.stopsAfter(() => editor.nextRequest({ threadId: 1 }))
  expect(await editor.value('(bank.balance "bob")', 2)).toBe('10.0')
})

it('a program that does not end can be paused, and ended', async () => {
  const program = fileWith(ENDLESS)
  await open(program)
  await editor.lines(program, { line: 3, logMessage: 'running' })
  await editor.configurationDoneRequest()
  await until(() => editor.output.includes('running'))
  expect(await editor.stopsAfter(() => editor.pauseRequest({ threadId: 1 }))).toMatchObject({ reason: 'pause' })
  expect((await editor.stack()).slice(-2)).toEqual(['lambda test.repl:3', 'top level test.repl:1'])
  await editor.continueRequest({ threadId: 1 })
  await editor.disconnectRequest()
  await until(() => editor.isOver)
})

it('an editor learns how to name a variable in an expression, and shows no alert for an expression that fails', async () => {
  await open()
  await editor.lines(bank.pact, { line: 20 })
  await editor.begin()
  const { body } = await editor.scopesRequest({ frameId: 1 })
  const [given, , capabilities] = await Promise.all(
    body.scopes.map(({ variablesReference }) => editor.variablesRequest({ variablesReference })),
  )
  expect(given.body.variables.map((each) => each.evaluateName)).toEqual(['from', 'amount'])
  for (const each of capabilities.body.variables) expect(each).not.toHaveProperty('evaluateName')
  const streams = { input: new PassThrough(), output: new PassThrough(), warn: () => undefined }
  serveDap(streams, process.env, () => undefined)
  for (const command of ['evaluate', 'next']) {
    const request = JSON.stringify({ seq: 1, type: 'request', command, arguments: {} })
    streams.input.write(`Content-Length: ${request.length}\r\n\r\n${request}`)
  }
  let answers = ''
  streams.output.on('data', (bytes) => {
    answers += bytes
  })
  await until(() => answers.includes('"next"'))
  expect(answers.match(/"showUser":\w+/g)).toEqual(['"showUser":false', '"showUser":true'])
})

it('an adapter ends with its session, although the editor leaves the streams open', async () => {
  const process = new DapEditorOfProcess()
  editor = new DapEditor()
  const exited = once(process.child, 'exit')
  await process.open({ program: bank.repl })
  await process.disconnectRequest()
  expect((await exited)[0]).toBe(0)
})

it('an adapter whose editor is gone ends, also in the midst of a program, and reports other input', async () => {
  const gone = new DapEditorOfProcess(['--stdio'])
  editor = new DapEditor()
  await gone.open({ program: fileWith(ENDLESS) })
  await gone.configurationDoneRequest()
  gone.input.write('GET / HTTP/1.1\r\n\r\n')
  await until(() => gone.err.includes('not a Debug Adapter Protocol message'))
  const exited = once(gone.child, 'exit')
  gone.input.end()
  expect((await exited)[0]).toBe(0)
})
