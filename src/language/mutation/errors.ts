/** Operating errors of runs that plant faults in contracts. */
import { errorRows } from '#ground/base/errors.ts'

export const mutationErrors = errorRows({
  failingTests: {
    code: 'BAD_INPUT',
    text: 'the tests fail without any fault: {test}: {what}',
    hint: 'repair them first; newcut test shows all failures',
  },
  lostFork: {
    code: 'BAD_INPUT',
    text: 'faults cannot be planted without the fork: {why}',
    hint: 'with `fork-cache`, entries that were fetched once need no node',
  },
  noModules: {
    code: 'BAD_INPUT',
    text: 'the tests reach no modules in which faults can be planted',
    hint: 'dependencies do not count: name them with `mutate-only`',
  },
  unusedPath: {
    code: 'BAD_OPTION',
    text: '{option}: the tests load no modules from {path}',
    hint: 'name a file that they load, or a folder of such files',
  },
  malformedComment: {
    code: 'BAD_INPUT',
    text: '{place}: {problem}',
    hint: 'write ; newcut-mutate: ignore REASON, or ; newcut-mutate: ignore OPERATOR: REASON',
  },
})
