/** Commands with flags only: nothing of them comes from the environment or a file. */
import { Argument, type Command } from 'commander'
import { benchSuites } from './bench-suites.ts'
import { completionScript, type Shell, shells } from './completion/script.ts'
import { indented } from './examples.ts'
import { once } from './flags.ts'
import type { Commands } from './program.ts'

/** Adds them to the program. `done` receives the exit code. */
export function addPlainCommands(program: Command, commands: Commands, done: (code: number) => void): void {
  program
    .command('inspect [input]')
    .description('show headers, works and work responses: hex, base64, JSON of a node, a file, or - for standard input')
    .action(async (input = '-') => {
      done(await commands.inspect(input))
    })
  program
    .command('contract [file...]')
    .description('run test files of the contract language (.repl)')
    .option('--json', 'print a JSON object for each file')
    .action(async (files: string[], { json }: { json?: boolean }) => {
      done(await commands.contract({ files, json: json === true }))
    })
  program
    .command('keygen [file]')
    .description('make a key pair to mine for: in a new FILE that only you can read; without FILE it is printed')
    .option('--json', 'as JSON; with FILE its public part and the path')
    .action(async (file: string | undefined, { json }: { json?: boolean }) => {
      done(await commands.keygen({ file, json: json === true }))
    })
  program
    .command('devices')
    .description('list the GPUs of this machine')
    .option('--json', 'as JSON')
    .option('--measure', 'search on each for two seconds')
    .action(async ({ json, measure }) => {
      done(await commands.devices({ json: json === true, measure: measure === true }))
    })
  addBench(program, commands, done)
  addCompletion(program)
}

function addBench(program: Command, commands: Commands, done: (code: number) => void): void {
  const suite = new Argument('[suite...]')
  suite.argChoices = Object.keys(benchSuites)
  const widest = Math.max(...suite.argChoices.map((name) => name.length))
  const lines = Object.entries(benchSuites).map(([name, what]) => `${name.padEnd(widest)}  ${what}`)
  program
    .command('bench')
    .addArgument(suite)
    .description('measure kernels, threads, preemption, the whole pipeline and codecs')
    .option('--json <FILE>', 'write the report as JSON', once('json'))
    .option('--compare <FILE>', 'compare with an earlier report; exit code 1 when something got worse', once('compare'))
    .option('--quick', 'seconds instead of minutes: checks that everything works, not how fast it is')
    .addHelpText('after', `\n${indented('Suites (all, if none is given)', lines)}`)
    .action(async (suites: string[], { quick: isQuick, ...files }) => {
      done(await commands.bench({ suites, quick: isQuick === true, ...files }))
    })
}

function addCompletion(program: Command): void {
  const shell = new Argument('<shell>')
  shell.choices(shells)
  const command = program.command('completion').addArgument(shell)
  command.description('print a script that completes commands, options and values in bash, zsh or fish')
  command.action((name: Shell) => {
    program.configureOutput().writeOut?.(completionScript(program, name))
  })
}
