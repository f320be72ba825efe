/** Texts of declarations: modules that a chain lacks, and texts that newcut cannot read. */
import { errorRows } from '#ground/base/errors.ts'

export const declarationErrors = errorRows({
  noModule: {
    code: 'BAD_INPUT',
    text: 'chain {chain} of {network} has no module {name}',
    hint: '{advice}',
  },
  badList: {
    code: 'NODE_MISBEHAVED',
    text: 'chain {chain}: list-modules did not return a list',
    hint: "try another node; newcut local '(list-modules)' shows the answer of this one",
  },
  badDescription: {
    code: 'NODE_MISBEHAVED',
    text: 'chain {chain}: describe-module {name} returned no code',
    hint: 'try another node; newcut local shows the answer of this one',
  },
  otherModule: {
    code: 'BAD_INPUT',
    text: 'module {name}: its text contains {found}',
    hint: 'the node has another text under this name: compare it with that of another node',
  },
  unreadable: {
    code: 'BAD_INPUT',
    text: 'cannot read {what}{place}: {why}',
    hint: 'newcut reads the language of release 5; modules of older releases may have other syntax',
  },
})
