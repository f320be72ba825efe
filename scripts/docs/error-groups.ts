/** Error codes by where they arise, each with its remedy, in the order of docs/ERRORS.md. */
import type { ErrorCode } from '../../src/ground/base/errors.ts'

/** Heading -> error code -> the remedy. */
export const errorGroups: Readonly<Record<string, Readonly<Partial<Record<ErrorCode, string>>>>> = {
  'Options and configuration': {
    BAD_OPTION: 'correct the option; `newcut COMMAND --help-all` explains all',
    BAD_CONFIG: 'correct the file at the line that the message names',
    PORT_BUSY: 'choose another port, or end the program that has it; ports below 1024 may need rights',
  },
  'Nodes, pools and fleets': {
    NODE_UNREACHABLE: 'check the address, the server and the network; most commands can be repeated',
    NODE_NOT_RECOGNISED: 'check the address: the path, the port, and http or https',
    NODE_REFUSED: 'read the status and the text in the message; check account, password and rights',
    NODE_MISBEHAVED: 'check that the address is that of a node, pool or NATS server; update it',
  },
  'Transactions and contracts': {
    COMMAND_FAILED: 'read the text of the contract or the node; nothing but gas is paid',
    NO_RESULT: 'ask again with `newcut result REQUESTKEY` before you send the same transaction again',
  },
  Files: {
    BAD_INPUT: 'check the name and the content of the file or argument',
    BAD_OUTPUT: 'choose another name, or remove the file',
    BAD_FORMAT: 'check the bytes: `newcut inspect` decodes headers and work',
    DATA_UNUSABLE: 'read the message: it names the folder and the way out',
  },
  Search: {
    KERNEL_REFUSED: 'try another `--kernel` or device; `newcut devices` lists the GPUs',
  },
  'newcut itself': {
    INTERNAL: 'report it, with the whole line',
  },
}
