/** Shows commit subjects that are too long: of the branch, or of the last 50 commits without a remote. */
import { spawnSync } from 'node:child_process'
import { ROOT } from '../root.ts'

/** The longest subject, in characters. */
export const MOST_CHARACTERS = 72
/** Commits to read where no remote has a main branch. */
const LAST = 50

/** @returns `hash subject` of each commit whose subject is too long, newest first; [] outside a repository. */
export function longSubjects(root: string): string[] {
  const git = (...args: readonly string[]) => {
    const { status, stdout } = spawnSync('git', ['-C', root, ...args], { encoding: 'utf8' })
    return status === 0 ? stdout.split('\n').filter((line) => line !== '') : []
  }
  const [base] = git('remote').flatMap((remote) => git('merge-base', 'HEAD', `refs/remotes/${remote}/main`))
  const range = base === undefined ? ['-n', String(LAST)] : [`${base}..HEAD`]
  return git('log', '--no-merges', '--format=%h %s', ...range).filter(
    (line) => [...line.slice(line.indexOf(' ') + 1)].length > MOST_CHARACTERS,
  )
}

if (process.argv[1]?.endsWith('subjects.js')) {
  const subjects = longSubjects(ROOT)
  console.log(`commit subjects over ${MOST_CHARACTERS} characters: ${subjects.length}`)
  for (const subject of subjects) console.log(`  ${subject}`)
}
