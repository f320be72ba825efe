/** newcut writes key files, and its other commands read them. */
import { spawnSync } from 'node:child_process'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { signingKeys } from '../../src/commands/input/signing-keys.ts'
import { keyLines } from '../../src/commands/keygen.ts'
import { rotating } from '../rotation.ts'
import { run } from './run.ts'

const main = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'newcut-keygen-'))
const home = process.cwd()
beforeAll(() => process.chdir(folder))
afterAll(() => {
  process.chdir(home)
  rmSync(folder, { recursive: true })
})

/** Runs a shell line that can call `newcut`, without a terminal: for the files that a shell opens, and full disks. */
function shell(line: string, cwd = folder) {
  const script = `newcut() { '${process.execPath}' '${main}' "$@"; }\n${line}`
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { cwd, encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** Runs `newcut keygen` in this process, which is in the folder, under an umask. */
async function keygen(args: readonly string[], umask = 0o022) {
  const before = process.umask(umask)
  try {
    const { code, out, err } = await run(['keygen', ...args])
    return { code, out, err }
  } finally {
    process.umask(before)
  }
}

const modeOf = (name: string) => (statSync(join(folder, name)).mode & 0o777).toString(8)
const contentOf = (name: string) => readFileSync(join(folder, name), 'utf8')

/** The key in a file, as `--key` reads it; a warning fails the test. */
function keyIn(name: string) {
  const [named] = signingKeys([join(folder, name)], 'mainnet01', (message) => {
    throw new Error(message)
  })
  return named
}

describe('newcut keygen FILE', () => {
  it.each(['000', '022', '777'])(
    'newcut keygen FILE writes a file that only its owner can read under umask %s',
    async (umask) => {
      const name = `umask-${umask}.key`
      expect(await keygen([name], Number.parseInt(umask, 8))).toMatchObject({ code: 0, err: '' })
      expect(modeOf(name)).toBe('600')
      expect(contentOf(name)).toMatch(/^public-key: .*\n# account: k:.*\n# secret-key: [0-9a-f]{64}\n/)
    },
  )

  it('newcut keygen FILE prints the public part, the place of the secret and the next commands, but never the secret', async () => {
    const { code, out, err } = await keygen(['my.key'])
    const { account, key } = keyIn('my.key')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.split('\n')).toEqual([
      `account: ${account}`,
      `public key: ${key.publicKey}`,
      'secret key: in my.key, which only you can read; keep a copy in a safe place',
      `to mine for it: newcut mine --node URL --public-key ${account}`,
      'to spend from it: newcut transfer TO AMOUNT --key my.key',
      '',
    ])
    const [, secret = 'none'] = /secret-key: ([0-9a-f]{64})/.exec(contentOf('my.key')) ?? []
    expect(out).not.toContain(secret)
    expect(Object.keys(parse(contentOf('my.key')))).toEqual(['public-key'])
    const config = await run(['config', '--config', join(folder, 'my.key')])
    expect(parse(config.out)['public-key']).toEqual([key.publicKey])
  })

  it('newcut keygen FILE prints JSON of the public part and the path with --json', async () => {
    const { code, out, err } = await keygen(['json.key', '--json'])
    const { account, key } = keyIn('json.key')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toEqual({ account, publicKey: key.publicKey, file: join(folder, 'json.key') })
  })

  it('newcut keygen FILE overwrites nothing: no file, no folder, no link', async () => {
    await keygen(['old.key'])
    const before = contentOf('old.key')
    mkdirSync(join(folder, 'folder.key'))
    symlinkSync('nowhere', join(folder, 'link.key'))
    for (const name of ['old.key', 'folder.key', 'link.key']) {
      expect(await keygen([name])).toEqual({
        code: 1,
        out: '',
        err:
          `newcut: ${name}: the file exists (EEXIST), and keygen never overwrites a file ` +
          '(it may hold a key: name another file, or move this one away) [BAD_OUTPUT]\n',
      })
    }
    expect(contentOf('old.key')).toBe(before)
    expect(readdirSync(join(folder, 'folder.key'))).toEqual([])
    expect(existsSync(join(folder, 'nowhere'))).toBe(false)
  })

  it('newcut keygen FILE names a missing folder and the command that creates it', async () => {
    expect(await keygen(['my keys/my.key'])).toEqual({
      code: 1,
      out: '',
      err: "newcut: my keys/my.key: there is no folder my keys (ENOENT) (mkdir -p 'my keys' makes it) [BAD_OUTPUT]\n",
    })
    expect(await keygen(['/proc/my.key'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^newcut: \/proc\/my\.key: it cannot be written \(E[A-Z]+\) \(name /),
    })
  })

  it('newcut keygen FILE leaves no file behind on a full disk', (context) => {
    const small = join(folder, 'small')
    mkdirSync(small)
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'none', small]).status !== 0) {
      return context.skip('no small disk can be mounted here')
    }
    try {
      // The filler takes every page but one: the root folder needs none, and the key file needs one.
      shell('head -c 4096 /dev/zero > filler', small)
      const { status, stderr } = shell('newcut keygen my.key', small)
      expect(stderr).toMatch(/it cannot be written \(ENOSPC\)/)
      expect(readdirSync(small)).toEqual(['filler'])
      expect(status).toBe(1)
    } finally {
      spawnSync('umount', [small])
    }
  })

  it('newcut keygen FILE names a file by its path if it is called like a well-known key, and quotes special shell characters', async () => {
    expect((await keygen(['sender00'])).out).toContain('--key ./sender00\n')
    expect((await keygen(["it's mine.key"])).out).toContain(`--key 'it'\\''s mine.key'\n`)
  })
})

describe('newcut keygen', () => {
  it('newcut keygen creates a public key that belongs to the secret key', async () => {
    const { code, out } = await run(['keygen', '--json'])
    expect(code).toBe(0)
    const { publicKey, secretKey, account } = JSON.parse(out)
    expect(account).toBe(`k:${publicKey}`)
    // RFC 8410: the fixed DER prefix of an ed25519 private key.
    const der = Buffer.from(`302e020100300506032b657004220420${secretKey}`, 'hex')
    const key = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
    expect(Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex')).toBe(publicKey)
  })

  it('newcut keygen makes a new key pair each time', async () => {
    const [first, second] = await Promise.all([run(['keygen']), run(['keygen'])])
    expect(first.out).toMatch(/^public-key: "?[0-9a-f]{64}"?\n# account: k:[0-9a-f]{64}\n# secret-key: [0-9a-f]{64}\n/)
    expect(first.out).not.toBe(second.out)
  })

  it('newcut keygen quotes a key that YAML would read as a number', () => {
    const publicKey = `1e${'7'.repeat(62)}`
    const [line] = keyLines({ publicKey, secretKey: 'ab'.repeat(32) })
    expect(parse(line)).toEqual({ 'public-key': publicKey })
  })

  const umasks = [
    ['000', '', '666'],
    ['022', '', '644'],
    ['027', '--json', '640'],
  ] as const
  it.each(rotating(umasks, 1))(
    'newcut keygen under umask %s warns that others can read its output file: %s',
    (umask, flags, mode) => {
      const name = `sent-${mode}.key`
      expect(shell(`umask ${umask}; newcut keygen ${flags} > ${name}`)).toEqual({
        status: 0,
        stdout: '',
        stderr:
          `newcut: warning: other users may read the file that now holds the secret key (mode ${mode}): ` +
          'chmod 600 removes that right, and newcut keygen FILE writes a private file\n',
      })
      expect(modeOf(name)).toBe(mode)
    },
  )

  const unread = ['umask 077; newcut keygen > mine.key', 'newcut keygen | cat', 'newcut keygen > /dev/null']
  it.each(rotating(unread, 1))('newcut keygen prints no warning if nobody else can read its output: %s', (line) => {
    expect(shell(line)).toMatchObject({ status: 0, stderr: '' })
  })
})
