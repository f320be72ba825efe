/**
 * Runs the samples of a document as its reader does: in one folder, from the first to the last, with the network that
 * they start. Three things differ: all listen on free ports, networks make automatic blocks twice a second, and miners
 * use no GPU.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { childEnv } from '../children.ts'
import { difference } from '../samples.ts'
import { until } from '../wait.ts'
import { type Block, root, whereIs } from './blocks.ts'
import { curlCall } from './commands.ts'
import { copyExample, installInto, javaScriptOf } from './programs.ts'
import { type Command, commandsOf, promptsOf } from './shell.ts'

/** The address of `newcut devnet`. */
const NODE = 'http://127.0.0.1:1848'
const MAIN = join(root, 'dist/src/main.js')
/** Commands that ask the node of NEWCUT_NODE. */
const ASKS = /\bnewcut (?:local|send|transfer|balance|result|devnet [a-z]+)\b/
/** The last of the first lines of `newcut devnet`. */
const HAS_STARTED = /^see it in a browser: \S+\n/m

/** How a command ended. */
interface Ended {
  readonly code: number | null
  readonly out: string
}

export class Session {
  readonly #folder = mkdtempSync(join(tmpdir(), 'newcut-samples-'))
  /** The folder in which commands run. */
  readonly #workplace: string
  readonly #children = new Set<ChildProcess>()
  readonly #standard: readonly string[]
  #node: { readonly child: ChildProcess; readonly url: string } | null = null

  /**
   * @param standard arguments of `newcut devnet` where a sample needs a network and none has started one
   * @param example a folder of `examples/`, in whose copy the commands run; default: an empty folder
   */
  constructor(standard: readonly string[], example: string | null = null) {
    this.#standard = standard
    installInto(this.#folder)
    this.#workplace = example === null ? this.#folder : copyExample(example, this.#folder)
    const bin = join(this.#folder, 'bin')
    mkdirSync(bin)
    const newcut = `exec '${process.execPath}' --no-warnings '${MAIN}'`
    const programs = {
      newcut: `${newcut} "$@"`,
      npx: 'exec "$@"',
      tsc: `exec '${process.execPath}' '${join(root, 'node_modules/typescript/bin/tsc')}' "$@"`,
      npm: `[ "$1" != start ] || { shift 2; ${newcut} mine "$@"; }`,
    }
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
      chmodSync(join(bin, name), 0o755)
    }
  }

  /** Ends what runs, and removes the folder. */
  async close(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL')
    await until(() => this.#children.size === 0)
    rmSync(this.#folder, { recursive: true })
  }

  /** Writes the file that the reader saves. */
  async save({ file, text, language }: Block): Promise<void> {
    if (file === null) return
    const path = join(this.#workplace, file)
    mkdirSync(dirname(path), { recursive: true })
    const content = language === 'ts' ? javaScriptOf(text) : text
    writeFileSync(path, `${content.includes(NODE) ? content.replaceAll(NODE, await this.#url()) : content}\n`)
  }

  /** Runs a program of the document that the reader saves nowhere. @throws Error if it fails. */
  async runProgram(block: Block): Promise<void> {
    await this.save({ ...block, file: 'program.mjs' })
    await this.#succeeds('node program.mjs', whereIs(block))
  }

  /** Runs the commands of an `sh` block that `isWanted` chooses. @throws Error if one fails. */
  async runShell(block: Block, isWanted: (command: Command) => boolean): Promise<void> {
    for (const command of commandsOf(block.text).filter(isWanted)) {
      if (isNetwork(command)) await this.#startNode(command.words.slice(2))
      else await this.#succeeds(command.text, whereIs(block))
    }
  }

  /** Runs the commands of a `console` block. @returns how their output differs from the sample, or null. */
  async runConsole(block: Block): Promise<string | null> {
    for (const { line, output } of promptsOf(block.text)) {
      const [first] = commandsOf(line)
      const { out } = isNetwork(first) ? await this.#startNode(first.words.slice(2)) : await this.#run(line)
      const printed = out.replaceAll(this.#node?.url ?? NODE, NODE).trimEnd()
      const problem = difference(output, printed === '' ? [] : printed.split('\n'))
      if (problem !== null) return `$ ${line}\n${problem}\nall of it:\n${printed}`
    }
    return null
  }

  async #succeeds(line: string, where: string): Promise<void> {
    const { code, out } = await this.#run(line)
    if (code !== 0) throw new Error(`${where}: ${line} ended with ${code}:\n${out}`)
  }

  async #run(line: string): Promise<Ended> {
    const commands = commandsOf(line)
    if (commands.length === 1 && commands[0].words[0] === 'curl') return this.#fetch(commands[0])
    const url = line.includes(NODE) || (ASKS.test(line) && !line.includes('--exec')) ? await this.#url() : null
    return this.#ended('sh', ['-c', apart(faster(line.replaceAll(NODE, url ?? '')))], url)
  }

  async #fetch({ words }: Command): Promise<Ended> {
    const { method, url, headers, body } = curlCall(words.slice(1))
    const pairs = headers.map((header) => header.split(': ') as [string, string])
    const response = await fetch(url.replace(NODE, await this.#url()), { method, headers: pairs, body })
    return { code: 0, out: await response.text() }
  }

  async #url(): Promise<string> {
    if (this.#node === null) await this.#startNode(this.#standard)
    return this.#node?.url ?? NODE
  }

  /** Starts a network in the place of the one before. */
  async #startNode(args: readonly string[]): Promise<Ended> {
    const before = this.#node?.child
    before?.kill('SIGTERM')
    await until(() => before === undefined || !this.#children.has(before))
    let out = ''
    const child = this.#spawn(process.execPath, ['--no-warnings', MAIN, 'devnet', ...args.map(faster), '--port', '0'])
    child.stdout?.on('data', (bytes) => {
      out += bytes
    })
    child.stderr?.on('data', (bytes) => {
      out += bytes
    })
    await until(() => HAS_STARTED.test(out) || !this.#children.has(child))
    const [, url] = /newcut mine --node (http:\S+)/.exec(out) ?? []
    if (url === undefined) throw new Error(`newcut devnet ${args.join(' ')} did not start:\n${out}`)
    this.#node = { child, url }
    return { code: 0, out }
  }

  #spawn(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    const path = `${join(this.#folder, 'bin')}:${childEnv.PATH}`
    const child = spawn(program, args, {
      cwd: this.#workplace,
      env: { ...childEnv, LANG: 'C.UTF-8', HOME: this.#folder, ...env, PATH: path },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#children.add(child)
    child.on('close', () => this.#children.delete(child))
    return child
  }

  #ended(program: string, args: readonly string[], url: string | null): Promise<Ended> {
    const child = this.#spawn(program, args, url === null ? {} : { NEWCUT_NODE: url })
    let out = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (bytes) => {
        out += bytes
      })
    }
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code) => resolve({ code, out }))
    })
  }
}

/** Whether a command is `newcut devnet` and runs until it is stopped. */
const isNetwork = ({ words: [program, command, ...rest] }: Command) =>
  program === 'newcut' &&
  command === 'devnet' &&
  !/^[a-z]/.test(rest[0] ?? '') &&
  !rest.some((word) => ['--exec', '--check', '--help'].includes(word))

/** The same miner, at a free port and without GPUs. */
const apart = (line: string) =>
  /^newcut mine\b(?!.*--http )/.test(line)
    ? `${line} --http 127.0.0.1:0${line.includes('--gpu') ? '' : ' --gpu none'}`
    : line

/** The same command with a block each 500 ms. Twenty chains keep a slow machine busy if they come faster. */
const faster = (text: string) => text.replace(/\bconstant:\d+m?s\b/, 'constant:500ms')
