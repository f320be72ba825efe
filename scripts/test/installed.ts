/**
 * `npm run test:installed [-- VERSION ...]`: packs newcut, and installs the file in empty folders with these versions of
 * Node, each with and without a C compiler. There it runs the first commands of a new user, and prints a table.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageKernels } from '../package/kernels.ts'
import { packageNpm } from '../package/npm.ts'
import { type Step, Trial, tryPackage } from '../package/trial.ts'
import { fetchNode, nodeVersions, unknownVersions } from './node-versions.ts'

const HEADINGS = [
  'Node',
  'compiler',
  'npm install',
  'version',
  'devnet: first block',
  'mine: first solution',
  'installed',
]

/** Tries one version. @returns whether all steps passed */
function tryVersion(version: string, folder: string, tarball: string): boolean {
  const node = join(fetchNode(version, join(folder, version)), 'node')
  let passes = true
  for (const hasCompiler of [true, false]) {
    const trial = new Trial({ tarball, node, hasCompiler })
    try {
      const steps = tryPackage(trial)
      const installed = `${(trial.installedKiB() / 1024).toFixed(1)} MB`
      const sees = trial.seesCompiler
      print([version, sees ? 'yes' : 'no', ...steps.map(textOfStep), installed])
      for (const { name, fault } of steps) if (fault !== null) process.stderr.write(`${version}: ${name}: ${fault}\n`)
      passes &&= sees === hasCompiler && steps.every(({ fault }) => fault === null)
    } finally {
      trial.remove()
    }
  }
  return passes
}

const textOfStep = ({ seconds, fault }: Step) => (fault === null ? `${seconds.toFixed(1)} s` : 'FAILED')

function print(cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
}

/** @returns the exit code */
async function main(asked: readonly string[]): Promise<number> {
  const unknown = unknownVersions(asked)
  if (unknown !== null) {
    process.stderr.write(unknown)
    return 2
  }
  const folder = mkdtempSync(join(tmpdir(), 'newcut-installed-'))
  try {
    const machine = `${process.platform}-${process.arch}`
    if ((await packageKernels([machine], folder)) !== 0) return 1
    if ((await packageNpm([], { folder, kernels: folder })) !== 0) return 1
    const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '')
    print(HEADINGS)
    print(HEADINGS.map(() => '---'))
    const versions = asked.length > 0 ? asked : nodeVersions
    return versions.filter((version) => !tryVersion(version, folder, tarball)).length === 0 ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

process.exitCode = await main(process.argv.slice(2))
