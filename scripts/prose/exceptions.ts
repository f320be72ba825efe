/** Compares findings with the exceptions, which only shrink. */
import { type Counts, countsOf, type Finding } from './findings.ts'
import { kinds, rules } from './rules.ts'

/** File of the exceptions, from the root of the project. */
export const EXCEPTIONS = 'test/prose/exceptions.json'

/** How to write the exceptions again. */
const SHRINK = 'npm run prose -- --shrink'

const count = (counts: Counts, { kind, file, rule }: Pick<Finding, 'kind' | 'file' | 'rule'>) =>
  counts[kind]?.[file]?.[rule] ?? 0

/**
 * @returns a complaint for each file and rule whose count differs from the exceptions. More sentences than allowed are
 * listed, because a count does not show which of them is new.
 */
export function complaints(findings: readonly Finding[], allowed: Counts): string[] {
  const now = countsOf(findings)
  return places(now, allowed).flatMap((place) => {
    const [has, may] = [count(now, place), count(allowed, place)]
    const where = `${place.file}: ${place.rule} (${place.kind})`
    if (has < may) return [`${where}: ${has} left of ${may}; make the list smaller: ${SHRINK}`]
    if (has === may) return []
    const own = findings.filter(
      ({ kind, file, rule }) => kind === place.kind && file === place.file && rule === place.rule,
    )
    return [`${where}: ${has} sentences, at most ${may} allowed; ${own[0].better}\n${own.map(lineOf).join('\n')}`]
  })
}

/** `  docs/SOLO.md:12: [47 words] The sentence.` */
export const lineOf = ({ file, line, words, sentence }: Finding): string => `  ${file}:${line}: [${words}] ${sentence}`

/** @returns the exceptions with every count lowered to the current one. A count never rises, and zeros are left out. */
export function shrunk(allowed: Counts, now: Counts): Counts {
  const kept = kinds.map((kind) => {
    const files = Object.entries(allowed[kind] ?? {}).map(([file, own]) => {
      const left = Object.entries(own).map(
        ([rule, may]) => [rule, Math.min(may, now[kind]?.[file]?.[rule] ?? 0)] as const,
      )
      return [file, Object.fromEntries(left.filter(([, may]) => may > 0))] as const
    })
    return [kind, Object.fromEntries(files.filter(([, own]) => Object.keys(own).length > 0))] as const
  })
  return Object.fromEntries(kept)
}

/** The text of the file. */
export const exceptionsText = (counts: Counts): string => `${JSON.stringify(counts, null, 2)}\n`

/** Every kind, file and rule that either has, including names that are not rules. */
function places(...all: readonly Counts[]): Pick<Finding, 'kind' | 'file' | 'rule'>[] {
  const names = rules.map(({ name }) => name)
  return kinds.flatMap((kind) => {
    const files = new Set(all.flatMap((counts) => Object.keys(counts[kind] ?? {})))
    return [...files].toSorted().flatMap((file) => {
      const used = all.flatMap((counts) => Object.keys(counts[kind]?.[file] ?? {}))
      return [...new Set([...names, ...used])].map((rule) => ({ kind, file, rule }))
    })
  })
}
