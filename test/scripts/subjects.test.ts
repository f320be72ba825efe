/** Commit subjects that are too long, in real repositories. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { longSubjects, MOST_CHARACTERS } from '../../scripts/prose/subjects.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'newcut-subjects-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const PERSON = ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false']

function git(root: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync('git', ['-C', root, ...PERSON, ...args], { encoding: 'utf8' })
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
}

const commit = (root: string, subject: string) => git(root, 'commit', '-q', '--allow-empty', '-m', `${subject}\n\nWhy.`)
const found = (root: string) => longSubjects(root).map((line) => line.replace(/^\S+ /, ''))
const subject = (letter: string, characters: number) => letter.repeat(characters)

it("the list of subjects has the commits since the merge base with the remote's main branch", () => {
  const [origin, root] = [folder(), folder()]
  git(origin, 'init', '-q', '-b', 'main')
  commit(origin, subject('a', MOST_CHARACTERS + 1))
  git(root, 'clone', '-q', origin, '.')
  expect(found(root)).toEqual([])
  commit(root, subject('é', MOST_CHARACTERS))
  commit(root, subject('b', MOST_CHARACTERS + 1))
  expect(found(root)).toEqual([subject('b', MOST_CHARACTERS + 1)])
})

it('the list of subjects has the last 50 commits without a remote, and is empty outside a repository', () => {
  const root = folder()
  expect(found(root)).toEqual([])
  git(root, 'init', '-q', '-b', 'main')
  commit(root, subject('a', MOST_CHARACTERS + 1))
  for (let i = 0; i < 49; i++) commit(root, 'short')
  expect(found(root)).toHaveLength(1)
  commit(root, 'short')
  expect(found(root)).toEqual([])
})
