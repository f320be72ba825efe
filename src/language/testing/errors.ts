/** Operating errors of runs of test files and of loaded texts. */
import { errorRows } from '#ground/base/errors.ts'

export const testingErrors = errorRows({
  missingTestFile: {
    code: 'BAD_OPTION',
    text: '{file}: no such file or folder{guess}',
    hint: 'name test files, or folders of them; without names, newcut searches the current folder',
  },
  noTestFiles: {
    code: 'BAD_OPTION',
    text: '{folder}: no test file (*.repl) is in it or below',
    hint: 'write one, such as my.repl, or name another folder',
  },
  tooManyEntries: {
    code: 'BAD_OPTION',
    text: '{folder}: more than {most} files and folders are below it',
    hint: 'name the folder of the tests',
  },
  unreadableFolder: { code: 'BAD_OPTION', text: '{folder}: {why}', hint: 'name folders that you may read' },
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
    hint: 'run the file with newcut test, which opens forks',
  },
})
