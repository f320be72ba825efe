#!/usr/bin/env node
/** The entry of the command line. */
import { runProgram } from './cli/program.ts'
import { commands } from './commands/commands.ts'
import { surroundings } from './commands/surroundings.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that goes away (`newcut inspect ... | head`) is no failure of ours.
  if (error.code === 'EPIPE') process.exit(0)
  // The terminal was closed. SIGHUP comes too, and what runs is to end in order.
  if (error.code !== 'EIO') throw error
})

process.exitCode = await runProgram(process.argv.slice(2), surroundings, commands)
