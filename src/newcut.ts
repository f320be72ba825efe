/** The command line as a process: its output, its crashes, and its exit code. */
import { asNewcutError } from './base/errors.ts'
import { exitCodeOf } from './base/exit-codes.ts'
import { reportError } from './cli/console.ts'
import { newcut } from './commands/commands.ts'
import { surroundings } from './commands/surroundings.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader has closed the pipe (`newcut inspect ... | head`), which is not an error.
  if (error.code === 'EPIPE') process.exit(0)
  // EIO: the terminal was closed. SIGHUP follows and shuts the program down.
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
