/** Execution flags of test files: rules of earlier releases, and checks that nodes make or leave out. */
import type { LanguageRules } from '../machine/environment.ts'

/** Flag of `env-exec-config` -> the rules under it, and without it. */
const EFFECTS: readonly (readonly [flag: string, rule: keyof LanguageRules, value: boolean])[] = [
  ['AllowReadInLocal', 'isLocal', true],
  ['DisableHistoryInTransactionalMode', 'isHistoryLocal', true],
  ['DisablePactEvents', 'areEventsEmitted', false],
  ['EnforceKeyFormats', 'areKeysChecked', true],
  ['RequireKeysetNs', 'areKeysetsInNamespaces', true],
  ['DisableRuntimeRTC', 'areResultsChecked', false],
  ['EnableLegacyEventHashes', 'areEventHashesCurrent', true],
  ['DisablePact52', 'isLanguage52', false],
  ['DisablePact53', 'isLanguage53', false],
  ['DisableReentrancyCheck', 'isReentrancyChecked', false],
  ['DisablePact54', 'isLanguage54', false],
  ['DisablePact54Fix', 'isLanguage541', false],
  // The flag belongs to the next release. Files that set no flags follow the newest published one.
  ['DisableSlhDsaSignatures', 'hasSlhDsa', false],
]

/** Flags that exist. Those without an effect here change no rule that test files can see. */
export const FLAGS: ReadonlySet<string> = new Set([
  ...EFFECTS.map(([flag]) => flag),
  'DisableModuleInstall',
  'DisablePact51',
])

/** Rules with these flags set and all others cleared. */
export function rulesWith(rules: LanguageRules, flags: ReadonlySet<string>): LanguageRules {
  const changed = EFFECTS.map(([flag, rule, value]) => [rule, flags.has(flag) === value] as const)
  return { ...rules, ...Object.fromEntries(changed) }
}
