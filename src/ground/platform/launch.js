/**
 * `npm start` in a checkout: runs the compiled program, or says how to build it. Plain JavaScript, because it must run
 * before the first build. The published package does not need it.
 */
import { existsSync } from 'node:fs'

const fromRoot = (/** @type {string} */ path) => new URL(`../../../${path}`, import.meta.url)
const main = fromRoot('dist/src/main.js')

if (!existsSync(fromRoot('node_modules'))) stop('its dependencies are not installed', 'npm ci')
else if (!existsSync(main)) stop('it is not compiled, since no install script has run', 'npm run build')
else await import(main.href)

/** @param {string} why @param {string} command */
function stop(why, command) {
  process.stderr.write(`newcut cannot start: ${why}. Run \`${command}\` first.\n`)
  process.exitCode = 1
}
