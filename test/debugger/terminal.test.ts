/** `newcut debug FILE` as a process, with commands on stdin. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { childEnv } from '../children.ts'
import { run, runProcess } from '../cli/run.ts'
import { noTerminal, startInTerminal, stopTerminals } from '../cli/terminal.ts'
import { itWith } from '../needs.ts'
import { until } from '../wait.ts'
import { bank, ENDLESS, fileWith } from './programs.ts'

afterEach(stopTerminals)

const main = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
const debug = async (file: string, ...commands: string[]) => {
  const { code, out, err } = await runProcess(['debug', file], {}, `${commands.join('\n')}\n`)
  expect([code, err]).toEqual([0, ''])
  return out.trimEnd().split('\n')
}

it('newcut debug stops at breakpoints, and shows stack, variables, capabilities, gas and rows', async () => {
  const commands = [
    'break bank.pact:20 if (= from "alice")',
    'run',
    'where',
    'locals',
    'caps',
    'gas',
    'rows',
    'up',
    'locals',
  ]
  expect(await debug(bank.repl, ...commands, 'print (- amount 1.0)', 'quit')).toEqual([
    'begins in top level, bank.repl:1:1',
    '> 1  (begin-tx)',
    'breakpoint 1: bank.pact:20 if (= from "alice")',
    'breakpoint in bank.debit, bank.pact:20:7',
    '> 20        (update accounts from',
    '> 0 bank.debit  bank.pact:20:7',
    '  1 bank.pay  bank.pact:24:7',
    '  2 top level  bank.repl:9:1',
    '  from: "alice"',
    '  amount: 3.0',
    '  balance: 10.0',
    '  (bank.PAY "alice" "bob" 3.0): granted',
    '  (bank.DEBIT "alice"): granted, part of bank.PAY',
    '  (bank.PAY "alice" "bob" 5.0): managed, left 2.0',
    expect.stringMatching(/^ {2}file so far: [\d.]+$/),
    '  with-read bank.accounts alice: {"balance": 10.0}',
    'bank.pay, bank.pact:24:7',
    '> 24        (debit from amount)',
    '  from: "alice"',
    '  to: "bob"',
    '  amount: 3.0',
    '2.0',
  ])
})

it('newcut debug counts the hits of a breakpoint, and refuses other words', async () => {
  const file = fileWith('(map\n  (lambda (x)\n    (+ x 1))\n  [1 2 3 4])\n')
  const lines = await debug(file, 'break 3 hit often', 'break 3 hit >= 3 if (> x 1)', 'run', 'locals', 'quit')
  expect(lines.slice(2)).toEqual([
    'hit often: expected a number of hits, such as 3, >= 3 or % 3',
    'breakpoint 1: test.repl:3 hit >= 3 if (> x 1)',
    'breakpoint in lambda, test.repl:3:5',
    '> 3      (+ x 1))',
    '  x: 4',
  ])
})

it('newcut debug goes back to the last write of a row, by a line, and begins again after the end', async () => {
  const commands = [
    'catch none',
    'run',
    'back bank.accounts alice',
    'previous',
    'back',
    'back bank.accounts carol',
    'run',
  ]
  expect(
    (await debug(bank.repl, ...commands, 'run', 'list', 'quit')).filter((line) => !line.startsWith('passed')),
  ).toEqual([
    'begins in top level, bank.repl:1:1',
    '> 1  (begin-tx)',
    'stops at failures: none',
    expect.stringMatching(/^FAILED .*bank\.repl:13:1: bob is rich: expected 14\.0, got 13\.0$/),
    '2 passed, 1 failed',
    'the program has ended: back and previous go back, run begins again',
    'back in bank.debit, bank.pact:20:7: before the write of bank.accounts alice',
    '> 20        (update accounts from',
    'back in bank.debit, bank.pact:19:7',
    '> 19        (enforce (>= balance amount) "insufficient funds")',
    'back in bank.open, bank.pact:15:5: before the write of bank.accounts bob',
    '> 15      (insert accounts who { "balance": 10.0 }))',
    'back in top level, bank.repl:1:1: the beginning: no row bank.accounts carol was written before',
    '> 1  (begin-tx)',
    '2 passed, 1 failed',
    'the program has ended: back and previous go back, run begins again',
    'begins in top level, bank.repl:1:1',
    '> 1  (begin-tx)',
    '> 1  (begin-tx)',
    '  2  (load "bank.pact")',
    '  3  (bank.open "alice")',
    '  4  (bank.open "bob")',
    '  5  (commit-tx)',
    '  6',
  ])
})

it('newcut debug goes back from one write of a row to the one before', async () => {
  const lines = await debug(bank.repl, 'catch none', 'run', 'back', 'back', 'quit')
  expect(lines.filter((line) => line.startsWith('back in'))).toEqual([
    'back in bank.pay, bank.pact:26:9: before the write of bank.accounts bob',
    'back in bank.debit, bank.pact:20:7: before the write of bank.accounts alice',
  ])
})

it('newcut debug answers wrong commands in words', async () => {
  const commands = [
    'nxt',
    'break 99',
    'break debit',
    'break 6',
    'delete 7',
    'delete',
    'catch al',
    'watch accounts',
    'print',
    'print (',
    'up',
    'help',
  ]
  const lines = await debug(bank.repl, ...commands)
  expect(lines.slice(2, 13)).toEqual([
    'nxt: unknown command; did you mean next?',
    'bank.repl:99: no code here, nor below',
    'break debit: neither a line nor a function; write FILE:LINE, LINE or module.function',
    'breakpoint 1: bank.repl:7 (line 6 has no code)',
    'delete 7: no breakpoint has this number',
    'no breakpoints',
    'catch al: expected expectations, uncaught, all or none; did you mean all?',
    'watch takes a table, such as coin.coin-table, and perhaps the key of a row',
    'print takes code, such as print (+ 1 2)',
    expect.stringContaining('xpected'),
    'this is the outermost code',
  ])
  expect(lines.find((line) => line.includes('go back to the last write of a row'))).toMatch(
    /^ {2}back \[TABLE \[KEY\]\]/,
  )
})

it('newcut debug takes a file or a request key, and runs a file that does not load to its error', async () => {
  const { code, err } = await run(['debug', 'gone.repl'])
  expect([code, err]).toEqual([2, expect.stringContaining('debug gone.repl: neither a file nor a request key')])
  expect(await debug(fileWith('(module m G (defcap G () true) (defun f () (g)))\n'), 'run', 'quit')).toContainEqual(
    expect.stringMatching(/test\.repl:1:\d+: .*g/),
  )
})

itWith(noTerminal, 'newcut debug pauses a program that does not end on Ctrl-C, and completes commands', async () => {
  const terminal = startInTerminal(['debug', fileWith(ENDLESS)])
  const sees = (text: string) =>
    until(
      () => terminal.lines().some((line) => line.includes(text)),
      () => terminal.lines().join('\n'),
    )
  await sees('(debug)')
  terminal.press('run\r')
  await sees('(debug) run')
  terminal.press('\x03')
  await sees('paused in')
  terminal.press('loc\t')
  await sees('(debug) locals')
  terminal.press('\r')
  await sees('x: ')
  terminal.press('quit\r')
  expect(await terminal.ended).toBe(0)
})

it('newcut debug ends on a signal, also in the midst of a program that does not end', async () => {
  const file = fileWith(ENDLESS)
  const child = spawn(process.execPath, [main, 'debug', file], { env: childEnv, stdio: ['pipe', 'pipe', 'pipe'] })
  let out = ''
  child.stdout.on('data', (bytes) => {
    out += bytes
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.stdin.write('break 1 if (= 1 2)\nrun\n')
  await until(() => out.includes('breakpoint 1'))
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})
