/** The command line as a process: its output, its crashes, and its exit code. */
import { versionFlags } from './faces/cli/version-flags.ts'
import { packageVersion } from './ground/platform/version.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader has closed the pipe (`newcut inspect ... | head`), which is not an error.
  if (error.code === 'EPIPE') process.exit(0)
  // EIO: the terminal was closed. SIGHUP follows and shuts the program down.
  if (error.code === 'EIO') return
  process.stderr.write(`newcut: standard output: ${error.message}\n`)
  process.exit(1)
})

// Nobody reads the messages (`newcut send ... 2>&1 | head`), or their disk is full: the task counts, and goes on.
process.stderr.on('error', () => undefined)

const args = process.argv.slice(2)
if (versionFlags.includes(args[0])) {
  // Without commands: they would take longer than the answer.
  process.stdout.write(`${packageVersion}\n`)
} else {
  const { runProcess } = await import('./commands/command-line.ts')
  process.exitCode = await runProcess(args)
}
