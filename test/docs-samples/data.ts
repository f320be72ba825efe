/** Judges blocks that are data: JSON, YAML and the forms of other programs. */
import { readFileSync } from 'node:fs'
import { parse, parseAllDocuments } from 'yaml'
import { commandRows } from '../../src/commands/commands.ts'
import { readRequest } from '../../src/commands/input/request-file.ts'
import { resolveLayers } from '../../src/faces/cli/config.ts'
import { parseConfigFile } from '../../src/faces/cli/config-file.ts'
import { optionTables } from '../../src/faces/cli/options/table.ts'
import { describeError } from '../../src/ground/base/errors.ts'
import { read } from '../../src/language/contracts/syntax/reader.ts'

/** Keys of files of other programs: a YAML file without any of them is a configuration file of newcut. */
const FOREIGN_KEYS = ['apiVersion', 'services', 'scrape_configs', 'groups', 'version', 'receivers', 'rule_files']

function yamlProblem(text: string): string | null {
  for (const document of parseAllDocuments(text)) {
    const [problem] = [...document.errors, ...document.warnings]
    if (problem !== undefined) return problem.message
    const content: unknown = document.toJS()
    if (typeof content === 'object' && content !== null && 'publicMeta' in content) {
      return orMessage(() => void readRequest(text, 'the block', { networkId: null, nowMs: 0 }))
    }
    if (isSteps(content)) return content.map(stepProblem).find((problem) => problem !== null) ?? null
    if (typeof content === 'object' && content !== null && FOREIGN_KEYS.some((key) => key in content)) return null
  }
  return orMessage(() => {
    // A file serves all commands, so each table reads its own options in it.
    const content = parseConfigFile('the block', filledIn(text))
    const layers = { orders: {}, flags: {}, environment: {}, content, file: 'the block' }
    for (const table of optionTables) resolveLayers(table, layers)
  })
}

/** A step of a workflow of GitHub. */
interface WorkflowStep {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

const isSteps = (content: unknown): content is WorkflowStep[] =>
  Array.isArray(content) && content.length > 0 && content.every((each) => 'uses' in each || 'run' in each)

/** Inputs of the action of this repository have to exist. */
function stepProblem({ uses, with: inputs = {} }: WorkflowStep): string | null {
  if (!/\/newcut@/.test(uses ?? '')) return null
  const action = parse(readFileSync(new URL('../../action.yml', import.meta.url), 'utf8')) as { inputs: object }
  const wrong = Object.keys(inputs).find((name) => !(name in action.inputs))
  return wrong === undefined ? null : `${uses}: no such input: ${wrong}`
}

const filledIn = (text: string) => text.replace(/\bKEY\b/g, 'ab'.repeat(32)).replace(/\bPORT\b/g, '1917')

/** @returns the message of the error that a function throws, or null. */
function orMessage(judge: () => void): string | null {
  try {
    judge()
    return null
  } catch (error) {
    return describeError(error)
  }
}

/** Lines of `[section]` and `name = value`, as in units of systemd. */
function iniProblem(text: string): string | null {
  const wrong = text.split('\n').find((line) => !/^(?:\s*|\s*[#;].*|\[[\w .:-]+\]|[\w.-]+\s*=.*)$/.test(line))
  return wrong === undefined ? null : `neither a section nor a value: ${wrong}`
}

/** Braces and quotes of nginx, NATS and the like have to close. */
function bracesProblem(text: string): string | null {
  const open: string[] = []
  const code = text.replace(/"(?:[^"\\\n]|\\.)*"/g, '').replace(/^\s*(?:#|\/\/).*$/gm, '')
  if (code.includes('"')) return 'a quote that stays open'
  for (const bracket of code.match(/[[\]{}()]/g) ?? []) {
    const opening = { ']': '[', '}': '{', ')': '(' }[bracket]
    if (opening === undefined) open.push(bracket)
    else if (open.pop() !== opening) return `${bracket} closes nothing`
  }
  return open.length === 0 ? null : `${open.at(-1)} stays open`
}

/** Lines of the exposition format of Prometheus. */
function metricsProblem(text: string): string | null {
  const wrong = text.split('\n').find((line) => !/^(?:#.*|\s*|\w+(?:\{.*\})? \S+(?: \d+)?)$/.test(line))
  return wrong === undefined ? null : `no sample: ${wrong}`
}

const names = commandRows.map(({ name }) => name)
const COMMAND = new RegExp(`^(?:\\$ |(?:npx )?newcut (?:${names.join('|')})\\b(?! \\w+ )|npm |curl )`)

/** Pictures and outputs. A command in one would escape this test. */
function textProblem(text: string): string | null {
  const command = text.split('\n').find((line) => COMMAND.test(line))
  return command === undefined ? null : `a command in a text block: ${command}`
}

/** Language -> a judge, which returns why a block is wrong, or null. */
export const dataLanguages: Readonly<Record<string, (text: string) => string | null>> = {
  json: (text) => orMessage(() => void JSON.parse(text)),
  yaml: yamlProblem,
  ini: iniProblem,
  toml: iniProblem,
  nginx: bracesProblem,
  conf: bracesProblem,
  prometheus: metricsProblem,
  pact: (text) => orMessage(() => void read(text)),
  text: textProblem,
}
