/** The checkout has known entries at the top and known kinds of files in each folder. Output and caches stay out. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { itWith } from './needs.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

const AT_TOP = [
  ...['.dockerignore', '.editorconfig', '.gitignore', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md'],
  ...['SECURITY.md', 'biome.json', 'package-lock.json', 'package.json', 'tsconfig.json', 'tsconfig.page.json'],
  ...['typedoc.json', 'vitest.config.ts'],
  // `uses: OWNER/newcut` of a workflow on GitHub reads an action at the top only.
  'action.yml',
]

/** Folder at the top -> the kinds of its files. */
const KINDS: Readonly<Record<string, RegExp>> = {
  '.ci': /^run$/,
  // GitHub reads workflows here only.
  '.github': /^workflows\/(test|publish)\.yml$/,
  bench: /\.(ts|cu|md)$|^baselines\/[\w-]+\.json$/,
  conformance: /\.json$/,
  deploy: /\.(sh|ya?ml|conf|service|example|js|md)$|(^|\/)newcut$|\/Containerfile$/,
  docs: /^[A-Z-]+\.md$|^newcut\.1$|^images\/[\w-]+\.(png|webp)$/,
  editors: /\.(json|cjs|md)$|\/\.vscodeignore$/,
  examples: /\.(pact|repl|ts|json|md|yml)$|\/(\.gas-snapshot|\.?gitignore)$/,
  grafana: /\.(json|yml)$/,
  networks: /\.yaml$/,
  scripts: /\.(ts|js)$/,
  shaders: /\.wgsl$/,
  src: /\.(ts|pact|c|h|html|css|svg)$|^(\w+\/)?tsconfig\.json$|^ground\/platform\/\w+\.js$/,
  test: /\.(ts|mjs|js|repl|pact|c)$|^(vectors|fixtures|golden)\/|^(fuzz|judges|prose)\/[\w-]+\.json$|^judges\/junit\.xsd$|^(package(-lock)?\.json|tsconfig\.json|\.npmrc)$/,
}

const lack = existsSync(`${root}.git`) ? null : 'this checkout has no .git, so nobody knows which files are committed'

/** Files in git, and new ones that it does not ignore. */
function filesInGit(): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const { stdout, status } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  expect(status).toBe(0)
  return stdout.split('\0').filter((path) => path !== '' && existsSync(root + path))
}

function isKnown(path: string): boolean {
  const [top, ...rest] = path.split('/')
  return rest.length === 0 ? AT_TOP.includes(top) : (KINDS[top]?.test(rest.join('/')) ?? false)
}

itWith(lack, 'the tree has files of known kinds only', () => {
  const files = filesInGit()
  expect(files.length).toBeGreaterThan(1000)
  expect(files.filter((path) => !isKnown(path))).toEqual([])
})
