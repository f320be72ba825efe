/** Counts the starts of the server for rigs, so that each start has creation times of its own. */
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HeaderClass } from '../../core/nonce.ts'
import { LONE_MODULUS, randomClass } from '../../engine/stratum/header-times.ts'
import { prepareReplacement } from '../../platform/replace-file.ts'

const FILE = 'rig-starts'
/** The file has a number of so many digits at most. */
const STARTS = /^\d{1,15}\n?$/

/**
 * The creation times for this start: those of the 15 starts before differ. Counts the start in a file of the folder before
 * it returns. Without a folder, or where the file cannot be used, the class is random, and `warn` hears of the fault.
 */
export function classOfStart(
  folder: string | null,
  random: () => number,
  warn: (message: string) => void,
): HeaderClass {
  if (folder === null) return randomClass(random)
  const path = join(folder, FILE)
  try {
    mkdirSync(folder, { recursive: true })
    // A server beside this one may make it at the same time.
    closeSync(openSync(path, 'a', 0o644))
    const text = readFileSync(path, 'utf8')
    if (text !== '' && !STARTS.test(text)) {
      warn(`${path} is not a count of starts: it begins again, and rigs may repeat headers of the start before`)
    }
    const starts = STARTS.test(text) ? Number(text) + 1 : Math.floor(random() * LONE_MODULUS)
    prepareReplacement(path, `${starts}\n`).commit()
    return { residue: starts % LONE_MODULUS, modulus: LONE_MODULUS }
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    warn(`cannot count starts in ${path} (${code}): rigs may repeat headers of an earlier start`)
    return randomClass(random)
  }
}
