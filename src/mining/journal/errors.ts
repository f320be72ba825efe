/** The errors of the journal. */
import { errorRows } from '#ground/base/errors.ts'

export const journalErrors = errorRows({
  changed: {
    code: 'BAD_INPUT',
    text: 'a file of the journal in {folder} was changed by another program',
    hint: 'remove {index} there, so that newcut reads all files again',
  },
  unreadable: {
    code: 'BAD_INPUT',
    text: 'cannot read the journal in {folder}: {why}',
    hint: 'this user must be able to read the folder and its files; `state: DIR` names another folder',
  },
  unwritable: {
    code: 'BAD_OPTION',
    text: 'cannot write the journal in {folder}: {why}',
    hint: 'set `state: DIR` to another folder, or mine without a journal with `state: off`',
  },
})
