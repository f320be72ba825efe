#!/usr/bin/env node
/** The entry of the command line. */
import { reportError } from './cli/console.ts'
import { newcut } from './commands/commands.ts'
import { surroundings } from './commands/surroundings.ts'
import { asNewcutError } from './core/errors.ts'
import { exitCodeOf } from './core/exit-codes.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader has gone away (`newcut inspect ... | head`): this is not an error.
  if (error.code === 'EPIPE') process.exit(0)
  // EIO: the terminal was closed. SIGHUP follows and ends the program in order.
  if (error.code === 'EIO') return
  process.stderr.write(`newcut: standard output: ${error.message}\n`)
  process.exit(1)
})

process.on('uncaughtException', (error) => {
  const ours = asNewcutError(error)
  reportError(ours, 'text', surroundings)
  process.exit(exitCodeOf(ours.code))
})

process.exitCode = await newcut(process.argv.slice(2), surroundings)
