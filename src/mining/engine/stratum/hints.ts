/** Share difficulties that users request in the configuration of a rig: in the password, or after the user. */

/** Hashes: `1.1e15`, `50000000000000` or `2^50`. */
const NUMBER = '(\\d{1,20}(?:\\.\\d{1,20})?(?:e\\+?\\d{1,3})?|2\\^\\d{1,3})'
/** In a password, which may contain more, such as `x,d=2^50`. */
const IN_PASSWORD = new RegExp(`(?:^|[\\s,;])(?:d|diff)=${NUMBER}(?:$|[\\s,;])`, 'i')
const BEHIND_USER = new RegExp(`^(.+)\\+${NUMBER}$`, 'is')
/** Smaller numbers belong to the name of a rig. */
const LEAST_BEHIND_USER = 2 ** 16
/** Maximum length of a text that is searched for hints, so that a client cannot cost much time. */
const MAX_TEXT = 512

/** The difficulty that a password requests, or null. */
export function difficultyInPassword(password: unknown): number | null {
  if (typeof password !== 'string') return null
  const [, digits] = IN_PASSWORD.exec(password.slice(0, MAX_TEXT)) ?? []
  return digits === undefined ? null : positive(digits)
}

/** Splits `KEY.WORKER+NUMBER` into the user and the difficulty, which is null without a number. */
export function difficultyAfterUser(text: string): { readonly user: string; readonly difficulty: number | null } {
  const [, user, digits] = BEHIND_USER.exec(text) ?? []
  const difficulty = digits === undefined ? null : positive(digits)
  if (user === undefined || difficulty === null || difficulty < LEAST_BEHIND_USER)
    return { user: text, difficulty: null }
  return { user, difficulty }
}

function positive(digits: string): number | null {
  const value = digits.startsWith('2^') ? 2 ** Number(digits.slice(2)) : Number(digits)
  return value > 0 && Number.isFinite(value) ? value : null
}
