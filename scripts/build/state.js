/** Remembers the sources of the last build in dist/.build.json, so that the next one builds only what has changed. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dist, root } from './places.js'

const file = `${dist}.build.json`

/**
 * @typedef {object} State
 * @property {Readonly<Record<string, string>>} sources hash of each emitted source
 * @property {boolean} isBundled whether the bundles were made of these
 */

/** Identifies the tools: this build, and the installed packages. */
function toolsMark() {
  const hash = createHash('sha256')
  const own = `${root}scripts/build/`
  for (const name of readdirSync(own).toSorted()) hash.update(readFileSync(`${own}${name}`))
  const installed = `${root}node_modules/.package-lock.json`
  if (existsSync(installed)) hash.update(readFileSync(installed))
  return hash.digest('base64url')
}

/**
 * The last build. Removes the output of one with other tools, or without a state.
 * @returns {State}
 */
export function readState() {
  if (existsSync(file)) {
    const { tools, sources, isBundled } = JSON.parse(readFileSync(file, 'utf8'))
    // A run with coverage removes the bundles.
    if (tools === toolsMark()) return { sources, isBundled: isBundled && existsSync(`${dist}src/bundled`) }
  }
  rmSync(dist, { recursive: true, force: true })
  return { sources: {}, isBundled: false }
}

/** @param {State} state */
export function writeState(state) {
  mkdirSync(dist, { recursive: true })
  writeFileSync(file, JSON.stringify({ tools: toolsMark(), ...state }))
}
