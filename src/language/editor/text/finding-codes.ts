/** The codes of findings: what each means. `docs/EDITORS.md` lists the same codes. */

export const findingCodes = {
  syntax: 'the text cannot be read',
  'unknown-name': 'no variable, member, import or module has this name',
  'unknown-field': 'the schema of the row or object has no such field',
  'wrong-arguments': 'a call with too many or too few arguments',
  'unused-variable': 'a variable of let or of a binding that no code names',
  'unused-import': 'a name in the list of use that no code names',
  'shadowed-native': 'a variable or member has the name of a native',
  'test-native': 'a native of test files in a module or a contract',
  'top-level-native': 'a native that networks refuse within a module',
  'local-native': 'a native that networks refuse outside of local calls',
  'table-scan': 'a native that reads a whole table, which costs much gas',
  'costly-native': 'a native whose price of gas is high',
  'duplicate-member': 'a second member of the same name',
  'circular-members': 'members that call each other in a circle',
  'not-an-interface': 'a module implements something that is not an interface',
  'load-file': 'a file that is missing, broken, or loads itself',
  'not-loaded': 'a module that the test file does not load',
  'refused-module': 'the loader refuses the module, as a network would',
  'failed-test': 'an expectation failed, or the test ended early',
  'silence-comment': 'a comment that names no finding, or silences nothing',
} as const satisfies Readonly<Record<string, string>>

export type FindingCode = keyof typeof findingCodes

/** Codes that no comment silences: the file does not work, or the comment itself is wrong. */
export const LOUD_CODES: ReadonlySet<FindingCode> = new Set(['syntax', 'failed-test', 'silence-comment'] as const)

export function isFindingCode(text: string): text is FindingCode {
  return Object.hasOwn(findingCodes, text)
}
