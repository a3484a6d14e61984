import { expect, test } from 'vitest';
import { rowsOf } from '../../table.ts';
import { openProject, runtimeYaml } from '../project.ts';
import { entry, shHook } from './scripts.ts';

/** A project with one hook of all methods that answers each request with this line; `%s` is the id. */
async function openLine(line: string, more = '') {
  const script = shHook(`    *) printf '${line}\\n' "$id" ;;`);
  const limits = 'intercept: [before_llm, after_llm, before_tool, after_tool, approve_tool]';
  const { runtime } = await openProject({
    'runtime.yaml': runtimeYaml(['hooks:', entry('hook', limits, `timeout_ms: 400${more}`)].join('\n')),
    hook: script,
  });
  return async (point: string) =>
    await runtime.hooks.fire({ dialect: 'picoclaw', point, payload: { tool: 't', ...results[point] } });
}

const results: Readonly<Record<string, object>> = { after_tool: { result: { for_llm: 'r' } } };
const deny = '{"action":"deny_tool","reason":"no"}';
const lines = [
  { title: 'under an id that is a text', line: `{"id":"%s","result":${deny}}` },
  { title: 'under an id in other letters', line: `{"ID":%s,"result":${deny}}` },
  { title: 'in a result in other letters', line: `{"id":%s,"Result":${deny}}` },
  { title: 'as an action in other letters', line: '{"id":%s,"result":{"Action":"deny_tool"}}' },
  { title: 'all in other letters', line: '{"Id":%s,"RESULT":{"ACTION":"deny_tool"}}' },
  { title: 'beside an error', line: `{"id":%s,"result":${deny},"error":{"code":1,"message":"boom"}}` },
  { title: 'beside an error that is a text', line: `{"id":%s,"result":${deny},"error":"boom"}` },
  { title: 'in a batch', line: `[{"id":%s,"result":${deny}}]` },
  { title: 'beside a method', line: `{"id":%s,"method":"hook.before_tool","Result":${deny}}` },
  {
    title: 'before a result that continues',
    line: `{"id":%s,"result":${deny},"result":{"action":"continue"}}`,
  },
];

test.each(lines)('a denial $title is one [PC-10-04@server PC-10-02]', async ({ line }) => {
  const verdicts = await Promise.all(
    ['', ', on_failure: deny'].map(async (more) => {
      const fire = await openLine(line, more);
      return (await fire('before_tool')).verdict;
    }),
  );
  expect(verdicts).toEqual(['deny', 'deny']);
});

const lenient = '{"action":"continue"}';

test.each(rowsOf<Record<'title' | 'line' | 'cause', string>>`
  title | line | cause
  under an id that is a text | {"id":"%s","result":${lenient}} | picoclaw.bad_result
  under an id in other letters | {"ID":%s,"result":${lenient}} | picoclaw.bad_result
  beside an error | {"id":%s,"result":${lenient},"error":{}} | picoclaw.rpc_error
`)('permission $title is a failure, named and closed [PC-10-01 PC-5-07]', async ({ line, cause }) => {
  const [open, closed, approval] = await Promise.all([
    openLine(line).then((fire) => fire('before_tool')),
    openLine(line, ', on_failure: deny').then((fire) => fire('before_tool')),
    openLine(line.replace(lenient, '{"approved":true}')).then((fire) => fire('approve_tool')),
  ]);
  expect([open.verdict, open.metadata, closed.verdict, closed.metadata, approval.verdict]).toEqual([
    'allow',
    { failed_open: { hook: 'hook', cause } },
    'deny',
    { failed_closed: { hook: 'hook', cause } },
    'deny',
  ]);
});

test('the text of a denial in an unusable reply is not passed on [PC-10-04@server]', async () => {
  const fire = await openLine(`{"id":"%s","result":{"action":"deny_tool","reason":"swordfish"}}`);
  expect(JSON.stringify(await fire('before_tool'))).not.toContain('swordfish');
});

test('a host sees that an answer replaces a failed tool’s result [PC-6-46@server]', async () => {
  const fire = await openLine(
    '{"id":%s,"result":{"action":"respond","result":{"for_llm":"no such city","is_error":true}}}',
  );
  expect(await fire('before_tool')).toMatchObject({
    verdict: 'respond',
    result: 'no such city',
    metadata: { picoclaw: { is_error: true } },
  });
});
