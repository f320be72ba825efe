/** Counts the starts of the stratum server, so that each start uses different header creation times. */
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolders, prepareReplacement } from '#ground/base/replace-file.ts'
import type { HeaderClass } from '#ground/chain/nonce.ts'
import { LONE_MODULUS, randomClass } from '#mining/engine/stratum/header-times.ts'

const FILE = 'rig-starts'
/** Content of the file: a number of at most 15 digits. */
const STARTS = /^\d{1,15}\n?$/

/**
 * Counts this start in a file of the folder.
 * @param warn called if the file is unusable
 * @returns the residue class of creation times, different from that of the 15 starts before. It is random without a
 * folder, or if the file is unusable.
 */
export function classOfStart(
  folder: string | null,
  random: () => number,
  warn: (message: string) => void,
): HeaderClass {
  if (folder === null) return randomClass(random)
  const path = join(folder, FILE)
  try {
    makeFolders(folder)
    // Another server may create the file at the same time.
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
