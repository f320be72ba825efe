/** Version of the language. */
import { type Arguments, type Native, native } from '../machine/native.ts'

export const LANGUAGE_VERSION = '5.4'
const FORM = /^\d{1,9}(\.\d{1,9}){0,7}$/

function read(args: Arguments, text: string): readonly number[] {
  if (!FORM.test(text)) throw args.error(`${args.native}: not a version: ${text.slice(0, 32)}`)
  return text.split('.').map(Number)
}

/** Compares part by part; a prefix sorts before the longer version. */
function compare(a: readonly number[], b: readonly number[]): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i] - b[i]
  return a.length - b.length
}

function enforce(args: Arguments): boolean {
  const version = read(args, LANGUAGE_VERSION)
  const isOld = compare(version, read(args, args.text(0))) < 0
  const isNew = args.has(1) && compare(version, read(args, args.text(1))) > 0
  if (isOld || isNew) throw args.error(`enforce-pact-version: this is version ${LANGUAGE_VERSION}`)
  return true
}

export const VERSION: readonly Native[] = [
  native('pact-version', 0, 0, () => LANGUAGE_VERSION),
  native('enforce-pact-version', 1, 2, enforce),
]
