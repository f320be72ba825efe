/**
 * `node dist/bench/hostile/main.js [--enough SECONDS] [--jobs N] [WORD ..]`: runs the hostile commands whose name holds
 * one of the words. It prints each as it ends, and at last a table, the worst first. Exits with 1 if one is beyond the limits.
 */
import { parseArgs } from 'node:util'
import { hostileCases } from './cases.ts'
import { lineOf, probeAll } from './probe.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { enough: { type: 'string', default: '3' }, jobs: { type: 'string', default: '2' } },
})
const names = hostileCases
  .map(({ name }) => name)
  .filter((name) => positionals.length === 0 || positionals.some((word) => name.includes(word)))
const limits = { enoughMs: Number(values.enough) * 1000, enoughMiB: 700, jobs: Number(values.jobs) }
const probed = await probeAll(names, limits, (each) => void process.stderr.write(`${lineOf(each)}\n`))
const failed = probed.filter(({ fault }) => fault !== null)
process.stdout.write(`     CPU s       peak MiB  disk MiB  gas\n${probed.map(lineOf).join('\n')}\n`)
process.stdout.write(`${failed.length} of ${probed.length} hostile commands are beyond the limits\n`)
process.exitCode = failed.length > 0 ? 1 : 0
