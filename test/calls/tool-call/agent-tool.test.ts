import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openRuntime } from '../../../src/index.ts';
import { folderOf } from '../../cli/command-line.ts';

const denies = `{command: sh, args: ["-c", "cat > /dev/null; echo '{\\"allow\\": false}'"], hook: tool`;
const caller = { agent: 'claude', session: 's', cwd: '/' };
const guards = ['own approval', 'approval', 'match tools', 'match when', 'after'] as const;

/** A runtime whose tool \`shell\` has these names and is guarded under one of them. */
async function openGuarded(names: readonly string[], guard: (typeof guards)[number], guarded: string) {
  const own = guard === 'own approval' ? ', approval: required' : '';
  const when = `when: '\${event.request.name == "${guarded}"}'`;
  const spec: Record<(typeof guards)[number], string> = {
    'own approval': '',
    approval: `approvals: {all: {tools: [${guarded}]}}`,
    'match tools': `hooks: {guard: ${denies}, phases: [before_execution], match: {tools: [${guarded}]}}}`,
    'match when': `hooks: {guard: ${denies}, phases: [before_execution], match: {${when}}}}`,
    after: `hooks: {guard: ${denies}, phases: [after_execution], match: {tools: [${guarded}]}}}`,
  };
  const [name = '', ...aliases] = names;
  const folder = folderOf({
    'runtime.yaml': `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  state_store: {type: memory}
  tools: {${name}: {aliases: [${aliases.join(', ')}]${own}}, other: {aliases: [Other]}}
  ${spec[guard]}
`,
  });
  return await openRuntime(join(folder, 'runtime.yaml'), { log: false });
}

test('property: a guard of a tool under any of its names judges its calls by every name [DS-INBOUND-10] [DS-HOOK-10]', async () => {
  const word = fc.constantFrom('shell', 'Bash', 'run_shell', 'mcp__x__sh', 'PowerShell');
  const cases = fc.record({
    names: fc.uniqueArray(word, { minLength: 2, maxLength: 4 }),
    guard: fc.constantFrom(...guards),
    guarded: fc.nat(),
    called: fc.nat(),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ names, guard, guarded, called }) => {
      const at = (index: number) => names[index % names.length] ?? '';
      await using runtime = await openGuarded(names, guard, at(guarded));
      const judge = async (name: string) => {
        const request = { name, args: { command: 'ls' }, call_id: 'c' };
        return guard === 'after'
          ? await runtime.agents.judge({
              hook: 'tool',
              phase: 'after_execution',
              request,
              response: { name, content: 'files' },
            })
          : await runtime.agents.judge({ hook: 'tool', phase: 'before_execution', request, caller });
      };
      expect((await judge(at(called))).verdict).toBe('deny');
      expect((await judge('Other')).verdict).toBe('allow');
      expect((await judge('unknown')).verdict).toBe('allow');
    }),
    { numRuns: 25 },
  );
}, 60_000);

test('a name that two tools share needs the approvals of both [DS-INBOUND-10]', async () => {
  const folder = folderOf({
    'runtime.yaml': `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  state_store: {type: memory}
  tools: {one: {aliases: [Bash]}, two: {aliases: [Bash], approval: required}}
`,
  });
  await using runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  const judge = async (name: string) =>
    await runtime.agents.judge({
      hook: 'tool',
      phase: 'before_execution',
      request: { name, args: {}, call_id: 'c' },
      caller,
    });
  expect((await judge('one')).verdict).toBe('allow');
  expect(await judge('Bash')).toMatchObject({ verdict: 'deny', reason: expect.stringContaining('"Bash"') });
});
