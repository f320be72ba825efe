/** Texts of conformance runs. */
import { errorRows } from '#ground/base/errors.ts'

export const conformanceErrors = errorRows({
  unreadableFolder: {
    code: 'BAD_INPUT',
    text: 'cannot read the folder of {content} {folder}: {why}',
    hint: '`cases` names a folder with JSON files',
  },
  emptyFolder: {
    code: 'BAD_INPUT',
    text: '{folder} has no {files}',
    hint: 'their names end in .json',
  },
  unreadableFile: {
    code: 'BAD_INPUT',
    text: 'cannot read the file {path}: {why}',
    hint: 'may this user read it?',
  },
  notJson: {
    code: 'BAD_INPUT',
    text: '{path} is not valid JSON: {why}',
    hint: 'correct the file at that place',
  },
  badFile: {
    code: 'BAD_INPUT',
    text: '{place}: {fault}',
    hint: 'docs/CONFORMANCE.md describes the format of these files',
  },
  sameName: {
    code: 'BAD_INPUT',
    text: '{path}: two cases are named "{name}"',
    hint: 'give each case of a file a name of its own',
  },
  answerTooLong: {
    code: 'NODE_MISBEHAVED',
    text: '{node}: an answer is longer than {maxBytes} bytes, the maximum of a conformance run',
    hint: 'is that address a node at all?',
  },
  answerTimeout: {
    code: 'NODE_UNREACHABLE',
    text: 'no complete answer in {timeoutMs} ms',
    hint: 'raise `timeout`, or check the node',
  },
  streamTimeout: {
    code: 'NODE_UNREACHABLE',
    text: 'the headers of the stream did not come in {timeoutMs} ms',
    hint: 'raise `timeout`, or check that the node streams updates',
  },
  notNode: {
    code: 'NODE_NOT_RECOGNISED',
    text: 'GET /info answers {status} without network and chains',
    hint: 'is that the service address of a node, such as http://127.0.0.1:1848?',
  },
  portTaken: {
    code: 'PORT_BUSY',
    text: 'cannot serve clients on {host}:{port}: {why}',
    hint: 'choose another port, or end the program that has it; ports below 1024 may need rights',
  },
})
