/**
 * npm's install script: builds the native parts of an installed package. A checkout does it in its prepare script, when
 * it has compiled newcut.
 */
import { existsSync } from 'node:fs'

const fromRoot = (/** @type {string} */ path) => new URL(`../../../${path}`, import.meta.url)

if (!existsSync(fromRoot('src/main.ts'))) await import(fromRoot('dist/src/compose/install.js').href)
