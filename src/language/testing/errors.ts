/** Operating errors of runs of test files and of loaded texts. */
import { errorRows } from '#ground/base/errors.ts'

export const testingErrors = errorRows({
  severalChains: { code: 'BAD_OPTION', text: '{option}: a test file runs on one chain', hint: 'name one of them' },
  failedText: {
    code: 'BAD_INPUT',
    text: '{place}: {message}',
    noHint: 'the text is that of the language, with its place; the code is of the caller',
  },
  failedSetup: {
    code: 'BAD_INPUT',
    text: '{setup}: {test}: {what}',
    noHint: 'the text is that of a failed test in the setup of the caller',
  },
  malformedSnapshot: {
    code: 'BAD_OPTION',
    text: '{file}:{line}: expected FILE:NAME GAS, not {content}',
    hint: 'correct the line, or write the file again with `gas-snapshot`',
  },
  forkWithoutNetwork: {
    code: 'BAD_INPUT',
    text: '{file} calls env-fork, and nothing here opens forks',
    hint: 'run the file with newcut contract, which opens forks',
  },
})
