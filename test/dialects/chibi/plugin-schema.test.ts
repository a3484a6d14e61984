import { expect, test } from 'vitest';
import type { ProcessReply } from '../../../src/contract/exchange.ts';
import { readSchema, readSchemaReply } from '../../../src/dialects/chibi/config/plugins.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
import { printed } from './asking.ts';

const plain = {
  name: 't',
  description: 'd',
  parameters: { type: 'object' },
  hooks: [],
  isParallel: true,
  isFlowControl: false,
  endsTurn: false,
  summaryParams: [],
};
const t = '"name": "t", "description": "d"';

const rows = [
  {
    title: 'the least',
    cites: 'CH-2-10@oneshot CH-2-12@oneshot CH-2-15@oneshot CH-2-17@oneshot',
    says: ` {${t}, "other": 1}\n`,
    elements: [plain],
    warnings: [],
  },
  {
    title: 'null parameters',
    cites: 'CH-2-12@oneshot',
    says: `{${t}, "parameters": null}`,
    elements: [plain],
    warnings: [],
  },
  {
    title: 'everything',
    cites: 'CH-2-15@oneshot CH-2-20@oneshot',
    says: `[{${t}, "parameters": {"type": "object", "required": ["a"]}, "hooks": ["pre_tool", "on_end", "pre_tool"], "parallel": false, "flow_control": true, "ends_turn": true, "summary_params": ["a", 5]}, {"name": "u", "description": ""}]`,
    elements: [
      {
        ...plain,
        parameters: { type: 'object', required: ['a'] },
        hooks: ['pre_tool', 'on_end'],
        isParallel: false,
        isFlowControl: true,
        endsTurn: true,
        summaryParams: ['a'],
      },
      { ...plain, name: 'u', description: '' },
    ],
    warnings: [],
  },
  {
    title: 'an element with an empty name, whose hooks count',
    cites: 'CH-2-30@oneshot',
    says: '{"name": "", "description": "d", "hooks": ["pre_tool"]}',
    elements: [{ ...plain, name: '', description: 'd', hooks: ['pre_tool'] }],
    warnings: ['element 1 has an empty name: it cannot be called, and only its hooks count'],
  },
  {
    title: 'an element without a name',
    cites: 'CH-2-11@oneshot',
    says: `[{"description": "d"}, 5, {${t}}]`,
    elements: [plain],
    warnings: [
      'element 1 has no `name` or no `description` and is left out',
      'element 2 has no `name` or no `description` and is left out',
    ],
  },
  {
    title: 'parameters that cannot be compiled',
    cites: 'CH-2-13@oneshot',
    says: `[{"name": "x", "description": "d", "parameters": {"type": "strnig"}}, {${t}}]`,
    elements: [plain],
    warnings: [expect.stringContaining("tool 'x' is left out")],
  },
  {
    title: 'parameters that are a text',
    cites: 'CH-2-13@oneshot',
    says: `[{"name": "x", "description": "d", "parameters": "x"}, {${t}}]`,
    elements: [plain],
    warnings: [expect.stringContaining("tool 'x' is left out")],
  },
  {
    title: 'hooks that are no list',
    cites: 'CH-2-14@oneshot',
    says: `{${t}, "hooks": "pre_tool"}`,
    elements: [plain],
    warnings: ["the `hooks` of tool 't' are not a list, so it has none"],
  },
  {
    title: 'hooks that are unknown or no texts',
    cites: 'CH-2-14@oneshot',
    says: `{${t}, "hooks": ["PreTool", 5, "toString", "pre_tool"]}`,
    elements: [{ ...plain, hooks: ['pre_tool'] }],
    warnings: [
      "the `hooks` of tool 't' contain something other than names",
      "Unknown hook 'PreTool' in tool 't'",
      "Unknown hook 'toString' in tool 't'",
    ],
  },
  {
    title: 'a flag of the wrong type',
    cites: 'CH-2-15@oneshot',
    says: `{${t}, "parallel": "no"}`,
    elements: [plain],
    warnings: ["the `parallel` of tool 't' is not a boolean and counts as true"],
  },
];

test.each(titled(rows))('$title', ({ says, elements, warnings }) => {
  expect(readSchema(Buffer.from(says))).toEqual({ elements, warnings });
});

const bad = rowsOf<{ title: string; cites: string; reply: ProcessReply; message: string }>`
  title | cites | reply | message
  an exit code | CH-2-08@oneshot | ${printed(`{${t}}`, { exitCode: 1, stderr: 'a\nno jq\n' })} | --schema exited with code 1: no jq
  a signal | CH-2-08@oneshot | ${printed(`{${t}}`, { exitCode: null, signal: 'SIGSEGV' })} | --schema was ended by SIGSEGV
  no UTF-8 | CH-2-08@oneshot | ${printed(Uint8Array.of(0xff))} | --schema printed text that is not UTF-8
  a banner | CH-2-08@oneshot | ${printed(`hello\n{${t}}`)} | --schema printed something other than one JSON document
  nothing | CH-2-08@oneshot | ${printed('', { stderr: 'oops' })} | --schema printed something other than one JSON document: oops
  an empty list | CH-2-17@oneshot | ${printed('[]')} | --schema describes no tool
  no element that can be used | CH-2-17@oneshot | ${printed('{"name": "x"}')} | --schema describes no tool; element 1 has no \`name\` or no \`description\` and is left out
`;

test.each(titled(bad))('$title fails the plugin', ({ reply, message }) => {
  expect(() => readSchemaReply(reply)).toThrow(expect.objectContaining({ code: 'REPLY_MALFORMED', message }));
});
