import { createPrivateKey, createPublicKey } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { concatBytes, decodeHex, encodeBase64Url, u256LE } from '../../src/core/bytes.ts'
import { decodeWork } from '../../src/core/header.ts'
import { parseJson } from '../../src/core/json.ts'
import { chainBytes } from '../../src/core/work.ts'
import { headerRecords as records } from '../records.ts'
import { run } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-inspect-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('newcut inspect', () => {
  it('shows all real headers and works, hex and base64url mixed, from standard input', async () => {
    const lines = records.map(({ header_hex: hex }, i) => (i % 2 === 0 ? hex : encodeBase64Url(decodeHex(hex))))
    const { code, out, err } = await run(['inspect', '-'], {}, lines.join('\n'))
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const shown = out.trim().split('\n')
    expect(shown).toHaveLength(records.length)
    records.forEach((record, i) => {
      expect(parseJson(shown[i])).toMatchObject({
        type: record.kind === 'unsolved-work' ? 'work' : 'header',
        powHash: record.pow_hash_hex,
        target: record.target_hex_le,
        height: record.height,
        chainId: record.chain,
        solved: record.solved,
        nonce: record.nonce,
        ...(record.block_hash_b64url !== null && { hash: record.block_hash_b64url }),
        ...(record.block_hash_recomputes !== null && { hashMatches: record.block_hash_recomputes }),
      })
      expect(shown[i]).toContain(`"featureFlags":${record.feature_flags},`)
    })
  })

  it('tells a work response from work', async () => {
    const work = decodeHex(records.find(({ kind }) => kind === 'unsolved-work')?.header_hex ?? '')
    const { chainId, target } = decodeWork(work)
    const response = concatBytes(chainBytes(chainId), u256LE(target), work)
    const { code, out } = await run(['inspect', encodeBase64Url(response)])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ type: 'workResponse', chainId, solved: false, level: expect.any(Number) })
  })

  it('reads a file of lines and a file of bytes', async () => {
    const lines = join(folder, 'lines.txt')
    writeFileSync(lines, `\n"${encodeBase64Url(decodeHex(records[0].header_hex))}"\r\n${records[1].header_hex}\n`)
    expect((await run(['inspect', lines])).out.trim().split('\n')).toHaveLength(2)
    const bytes = join(folder, 'header.bin')
    writeFileSync(bytes, decodeHex(records[0].header_hex))
    expect(JSON.parse((await run(['inspect', bytes])).out)).toMatchObject({ powHash: records[0].pow_hash_hex })
  })

  it('names the number of a bad line, shows the others and exits 1', async () => {
    const lines = [records[0].header_hex, 'zz', records[1].header_hex, records[2].header_hex.slice(2), 'not base64url!']
    const { code, out, err } = await run(['inspect'], {}, lines.join('\n'))
    expect(code).toBe(1)
    expect(out.trim().split('\n')).toHaveLength(2)
    expect(
      err
        .trim()
        .split('\n')
        .map((line) => /line (\d+):/.exec(line)?.[1]),
    ).toEqual(['2', '4', '5'])
    expect(err).not.toContain('    at ')
  })

  it('takes a bad argument for one bad line', async () => {
    const { code, err } = await run(['inspect', 'no-such-file'])
    expect(code).toBe(1)
    expect(err).toMatch(/^newcut: line 1: .*expected 318 \(header\), 286 \(work\) or 322 \(work response\)/)
  })
})

describe('newcut keygen', () => {
  it('makes a key pair of which the public key belongs to the secret key', async () => {
    const { code, out } = await run(['keygen', '--json'])
    expect(code).toBe(0)
    const { publicKey, secretKey, account } = JSON.parse(out)
    expect(account).toBe(`k:${publicKey}`)
    // RFC 8410: the fixed DER prefix of an ed25519 private key.
    const der = Buffer.from(`302e020100300506032b657004220420${secretKey}`, 'hex')
    const key = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
    expect(Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex')).toBe(publicKey)
  })

  it('makes a new one each time, as lines for people', async () => {
    const [first, second] = await Promise.all([run(['keygen']), run(['keygen'])])
    expect(first.out).toMatch(/^public-key: [0-9a-f]{64}\nsecret-key: [0-9a-f]{64}\naccount: k:[0-9a-f]{64}\n$/)
    expect(first.out).not.toBe(second.out)
  })
})
