/** `env-fork` of test files: the state of a live network below that of the file. */
import { evalError } from '../errors.ts'
import type { Run } from '../machine/ast.ts'
import { type Arguments, type Native, native } from '../machine/native.ts'
import type { TestRun } from './test-run.ts'

/**
 * `(env-fork URL [OPTIONS])`
 *
 * From here on, the file reads what it has not written from the network at a pin. It must come before everything that
 * writes, outside of transactions. The same call again changes nothing. A fork of the whole run replaces it.
 */
export function forkNative(test: TestRun): Native<Run> {
  return native('env-fork', 1, 2, (args) => {
    const [url, options] = [args.text(0), args.has(1) ? args.object(1) : new Map()]
    const { start, unsavedWork: held } = test
    if ((start.chain ?? null) !== null) {
      test.output.push(`WARNING ${test.locationOf(args.place)}: the fork of the command line replaces env-fork ${url}`)
      return 'Fork of the command line'
    }
    if (test.chain === null && held !== null) throw tooLate(args, held)
    const chain = start.fork?.({ file: test.file, place: args.place, url, options }) ?? null
    if (chain === null) throw evalError('env-fork: this runner opens no forks', args.place)
    if (chain !== test.chain) {
      if (held !== null) throw tooLate(args, held)
      test.useChain(chain)
    }
    return `Fork of ${url} at height ${chain.block.blockHeight - 1n}`
  })
}

function tooLate({ place }: Arguments<Run>, held: string) {
  return evalError(`env-fork must come first: ${held}`, place)
}
