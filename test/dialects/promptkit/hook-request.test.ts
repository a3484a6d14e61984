import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { promptkit, promptkitGo } from '../../../src/dialects/promptkit/dialect.ts';
import { anySample } from '../../json-texts.ts';

const spaced = fc
  .tuple(anySample, fc.constantFrom('', ' ', '\n', '\r\n\t'))
  .map(([{ text }, space]) => new Json(`{${space}"a":${space}${text}${space}}`));

test.each([
  { dialect: promptkit, keys: ['name', 'args', 'call_id'] },
  { dialect: promptkitGo, keys: ['Name', 'Args', 'CallID'] },
])(
  '$dialect.name sends a call in one line with the exact text of its arguments',
  ({ dialect, keys: [nameKey, argsKey, idKey] }) => {
    fc.assert(
      fc.property(fc.string(), spaced, fc.string({ unit: 'binary' }), (name, args, call_id) => {
        const request = { name, args, call_id };
        const { method, body } = dialect.hook.encode({ hook: 'tool', phase: 'before_execution', request });
        const [quotedName, quotedId] = [JSON.stringify(name), JSON.stringify(call_id)];
        const parts = `"${nameKey}":${quotedName},"${argsKey}":${args.text},"${idKey}":${quotedId}`;
        const expected = `{"hook":"tool","phase":"before_execution","request":{${parts}}}`;
        expect({ method, body }).toEqual({ method: 'execute', body: expected.replaceAll(/[\r\n]/g, ' ') });
        expect(body).not.toMatch(/[\r\n]/);
      }),
    );
  },
);

test('a call with plain arguments is sent in the same words', () => {
  const about = (args: unknown) =>
    promptkit.hook.encode({
      hook: 'tool',
      phase: 'before_execution',
      request: { name: 'pay', args, call_id: 'c' },
    });
  expect(about({ amount: 5 })).toEqual(about(new Json('{"amount":5}')));
});
