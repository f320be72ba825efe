/** The report of planted faults for programs. */
import type { MutantResult, MutantStatus, MutationResult } from './result.ts'
import { countByOperator, countMutants, countOf } from './score.ts'

/** The object of `--json`. */
export function mutationJson({ mutants, passed, runs, known, brittle, unusedComments }: MutationResult): object {
  const statuses = ['endless', 'unreached', 'ignored', 'invalid'] as const
  return {
    ...countMutants(mutants),
    ...Object.fromEntries(statuses.map((status) => [status, countOf(mutants, status)])),
    passed,
    runs,
    known,
    brittle,
    unusedComments,
    operators: countByOperator(mutants),
    mutants,
  }
}

/** Statuses of the schema of mutation testing reports. */
const STATUSES: Readonly<Record<MutantStatus, string>> = {
  killed: 'Killed',
  endless: 'Timeout',
  survived: 'Survived',
  unreached: 'NoCoverage',
  ignored: 'Ignored',
  invalid: 'CompileError',
}

/** Scores above and below which viewers of reports show another colour. */
const THRESHOLDS = { high: 90, low: 75 }

/**
 * The report in version 2 of the schema of mutation testing reports, which viewers show as pages.
 * @param sourceOf the text of a file by its path
 */
export function schemaReport({ mutants }: MutationResult, sourceOf: (file: string) => string): object {
  const files = [...new Set(mutants.map(({ file }) => file))]
  const tests = [...new Set(mutants.flatMap((each) => [...each.tests]))]
  const number = (test: string) => `${tests.indexOf(test)}`
  return {
    schemaVersion: '2',
    thresholds: THRESHOLDS,
    files: Object.fromEntries(
      files.map((file) => {
        const own = mutants.map((each, id) => ({ id, each })).filter(({ each }) => each.file === file)
        const entries = own.map(({ id, each }) => schemaMutant(`${id}`, each, number))
        return [file, { language: 'pact', source: sourceOf(file), mutants: entries }]
      }),
    ),
    testFiles: Object.fromEntries(tests.map((test) => [test, { tests: [{ id: number(test), name: test }] }])),
  }
}

function schemaMutant(id: string, mutant: MutantResult, number: (test: string) => string): object {
  const { operator, what, line, column, end, replacement, status, tests, killedBy, killer, reason } = mutant
  const statusReason = killedBy === null ? reason : `${killedBy.at}: ${killedBy.name}: ${killedBy.what}`
  return {
    id,
    mutatorName: operator,
    description: what,
    replacement,
    location: { start: { line, column }, end },
    status: STATUSES[status],
    ...(statusReason !== null && { statusReason }),
    coveredBy: tests.map(number),
    ...(killer !== null && { killedBy: [number(killer)] }),
  }
}
