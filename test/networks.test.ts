/** The files of networks/, and the module that the program reads in their place. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { networkDataModule } from '../scripts/networks/data.ts'
import { NetworkFile } from '../src/ground/schema/network-file.ts'
import { validatorOf } from '../src/ground/schema/validator.ts'

const folder = fileURLToPath(new URL('../networks/', import.meta.url))
const names = readdirSync(folder).map((file) => file.replace(/\.yaml$/, ''))
const contentOf = (name: string): unknown => parse(readFileSync(`${folder}${name}.yaml`, 'utf8'))

describe('each file of networks/', () => {
  it.each(names)('the file networks/%s fits the schema and has the name of its network', (name) => {
    const content = contentOf(name)
    const { accepts, complaint } = validatorOf(NetworkFile)
    expect(accepts(content) ? null : complaint(content)).toBeNull()
    expect((content as NetworkFile).name).toBe(name)
  })

  it('the module that the program reads contains each file of networks/', async () => {
    const forms = names.map((name) => contentOf(name) as NetworkFile)
    const module = fileURLToPath(new URL('../src/ground/chain/network-data.ts', import.meta.url))
    await expect(networkDataModule(forms)).toMatchFileSnapshot(module)
  })
})
