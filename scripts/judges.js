/**
 * `npm run judges`: installs the packages of test/package.json, which only lint, types, documents and some tests need.
 * Does nothing if they are installed. Plain JavaScript, because it also runs before the first build.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../test/', import.meta.url))
const lock = readFileSync(`${folder}package-lock.json`, 'utf8')
/** A copy of the lock file that was installed. */
const installed = `${folder}node_modules/.newcut-lock.json`

if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) install()

function install() {
  console.log('newcut: installing what only tests, lint and documents need: npm ci --prefix test')
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error']
  const run = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' })
  if (run.status === 0) return writeFileSync(installed, lock)
  const reason = run.error?.message ?? run.stderr.split('\n').find((line) => line !== '') ?? 'npm gave no reason'
  console.error(`newcut: they are not installed: ${reason}`)
  process.exitCode = 1
}
