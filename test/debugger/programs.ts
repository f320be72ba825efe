/** Programs to debug. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const bank = {
  repl: fileURLToPath(new URL('./bank.repl', import.meta.url)),
  pact: fileURLToPath(new URL('./bank.pact', import.meta.url)),
}

/** A test file that runs for hours. */
export const ENDLESS =
  '(map\n (lambda (x)\n  (fold (lambda (sum y) (+ sum (* x y))) 0 (enumerate 1 300000)))\n (enumerate 1 300000))\n'

/** A test file with this text. */
export function fileWith(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'newcut-debug-')), 'test.repl')
  writeFileSync(file, text)
  return file
}
