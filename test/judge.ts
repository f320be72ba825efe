/** Packages of test/package.json, which `npm run judges` installs. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Compiled files are one level deeper. */
const folder = fileURLToPath(new URL(import.meta.url.includes('/dist/test/') ? '../../test/' : '.', import.meta.url))

/** Loads one, from compiled files too. Throws Error with the code MODULE_NOT_FOUND if it is missing. */
export const requireJudge = createRequire(`${folder}package.json`)

/** Why tests that need them are skipped, or null if they are installed. */
export const lackOfJudges = (): string | null =>
  existsSync(`${folder}node_modules`) ? null : 'the packages of test/package.json are not installed: npm run judges'
