#!/usr/bin/env node
/** The entry of the command line. */
import { runProgram } from './cli/program.ts'
import { commands } from './commands/commands.ts'
import { surroundings } from './commands/surroundings.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader has gone away (`newcut inspect ... | head`): this is not an error.
  if (error.code === 'EPIPE') process.exit(0)
  // EIO: the terminal was closed. SIGHUP follows and ends the program in order.
  if (error.code !== 'EIO') throw error
})

process.exitCode = await runProgram(process.argv.slice(2), surroundings, commands)
