/** The module with the networks of networks/*.yaml, which the program reads instead of the files. */
import type { NetworkForm } from '../../src/core/network-form.ts'

const HEAD = `/**
 * The networks of networks/*.yaml, as \`npm run networks\` writes them. So a start of the miner loads no reader of YAML.
 */
import { completeNetwork, type Network, type NetworkDefinition } from './network.ts'
import { definitionOf, type NetworkForm } from './network-form.ts'

const whole = (form: NetworkForm) => completeNetwork(definitionOf(form)) as Network

`

/** Source text of src/core/network-data.ts. A network with a genesis time has all other facts too. */
export function networkDataModule(forms: readonly NetworkForm[]): string {
  const names = forms.map(({ name }) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()))
  const texts = forms.map((form, i) => {
    const make = form.genesis === undefined ? 'definitionOf' : 'whole'
    return `/** The network \`${form.name}\`. */\nexport const ${names[i]} = ${make}(${textOf(form)})\n`
  })
  return `${HEAD}${texts.join('\n')}\n/** All of them. */\nexport const definitions: readonly NetworkDefinition[] = [${names.join(', ')}]\n`
}

/** A line for each property. */
function textOf(form: NetworkForm): string {
  const lines = Object.entries(form).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},`)
  return `{\n${lines.join('\n')}\n}`
}
