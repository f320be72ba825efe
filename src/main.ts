#!/usr/bin/env node
/** Composition root: command line -> configuration -> source, engines, miner and faces; one place for errors. */
import { readFileSync } from 'node:fs'
import { runProgram } from './cli/program.ts'
import { inspect } from './commands/inspect.ts'
import { generateKeys, keyLines } from './commands/keygen.ts'
import { describeError, NewcutError } from './core/errors.ts'

const print = (text: string) => void process.stdout.write(text)

async function main(): Promise<number> {
  try {
    return await runProgram(process.argv.slice(2), process.env, {
      // Loaded when needed: what inspects a header need not wait for servers and threads.
      mine: async (config) => (await import('./commands/mine.ts')).runMine(config),
      devnet: async (config) => (await import('./commands/devnet.ts')).runDevnet(config),
      solve: async (target, { values }) => (await import('./commands/solve.ts')).runSolve({ target, ...values }),
      inspect: (input) =>
        inspect(input, () => readFileSync(0), {
          out: (line) => print(`${line}\n`),
          err: (line) => void process.stderr.write(`${line}\n`),
        }),
      keygen: (json) => {
        const keys = generateKeys()
        print(
          json ? `${JSON.stringify({ ...keys, account: `k:${keys.publicKey}` })}\n` : `${keyLines(keys).join('\n')}\n`,
        )
        return 0
      },
      devices: async (options) =>
        (await import('./commands/devices.ts')).runDevices(options, (line) => print(`${line}\n`)),
      bench: async (options) => (await import('../bench/bench.ts')).runBench(options, (line) => print(`${line}\n`)),
      print,
    })
  } catch (error) {
    if (!(error instanceof NewcutError)) throw error
    const hint = error.hint === undefined ? '' : ` (${error.hint})`
    process.stderr.write(`newcut: ${describeError(error)}${hint} [${error.code}]\n`)
    return 1
  }
}

// A reader that goes away (`newcut inspect ... | head`) is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

process.exitCode = await main()
