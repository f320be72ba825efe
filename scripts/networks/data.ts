/** The module with the networks of networks/*.yaml, which the program reads instead of the files. */
import type { NetworkForm } from '../../src/ground/chain/network-form.ts'

const HEAD = `/**
 * The networks of networks/*.yaml, as \`npm run networks\` writes them. So a start of the miner loads no reader of YAML.
 */
import { completeNetwork, type Network, type NetworkDefinition } from './network.ts'
import { definitionOf, type NetworkForm } from './network-form.ts'

const completeForm = (form: NetworkForm) => completeNetwork(definitionOf(form)) as Network

/** The files by name. */
export const networkForms = {
`

const TAIL = '} as const satisfies Readonly<Record<string, NetworkForm>>\n\n'

/** Source text of src/ground/chain/network-data.ts. A network with a genesis time has all other facts too. */
export function networkDataModule(forms: readonly NetworkForm[]): string {
  const names = forms.map(({ name }) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()))
  const texts = forms.map((form, i) => {
    const make = form.genesis === undefined ? 'definitionOf' : 'completeForm'
    const place = `networkForms${names[i] === form.name ? `.${form.name}` : `['${form.name}']`}`
    return `/** The network \`${form.name}\`. */\nexport const ${names[i]} = ${make}(${place})\n`
  })
  const all = `/** All of them. */\nexport const definitions: readonly NetworkDefinition[] = [${names.join(', ')}]\n`
  return [HEAD, ...forms.map(textOf), TAIL, texts.join('\n'), '\n', all].join('')
}

/** A line for each property. */
function textOf(form: NetworkForm): string {
  const lines = Object.entries(form).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`)
  return `  ${JSON.stringify(form.name)}: {\n${lines.join('\n')}\n  },\n`
}
