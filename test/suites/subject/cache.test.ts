import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memoryFile } from '../../../src/store/sqlite/connection.ts';
import { openSqliteResults } from '../../../src/store/sqlite-result-store.ts';
import type { SubjectContext } from '../../../src/suites/subject/adapter.ts';
import { ask, type Bench, openAt, openBench, writePipeline } from './bench.ts';

// Each call of the tool adds a line to `starts`, each call of the model one to `asked`.
const script = `#!/bin/sh
cat >/dev/null
echo start >>starts
printf '{"result": "%s"}' "$GREETING$(cat words.txt)"
`;
const files = {
  'strange.sh': '#!/bin/sh\nexit 0\n',
  'tool.sh': script,
  'words.txt': ' you\n',
  'tape.jsonl': 'tape',
};
const spec = `
tools:
  greet: {exec: {command: ./tool.sh, args: [words.txt, --mode=plain], env: [GREETING=Hello, TOKEN]}}
  other: {exec: {command: ./tool.sh, args: [none]}}
evals:
  judge: {command: $bin/eval-score, args: ["1"]}
hooks:
  watch: {hook: tool, phases: [before_execution], command: $bin/allow.sh}
  strange: {dialect: claude, command: 'sh ./strange.sh', claude: {event: PreToolUse, matcher: greet}}
  asked: {hook: provider, phases: [before_call], command: sh, args: [-c, 'cat >/dev/null; echo asked >>asked; echo ''{"allow": true}''']}
providers:
  - {id: main, type: mock, model: scripted, additional_config: {responses: [{text: Hello., repeat: true}], replaced_by_env: NOBODY}}
`;

const tool = "tool: greet\nargs: {q: '${case.q}'}";
const chat = "chat: {provider: main, messages: 'Say ${case.q}.', tools: [greet], max_rounds: 3}";
const pipeline = "pipeline: demo.pipeline.yaml\ninput: {q: '${case.q}'}";
const steps = "steps: [{id: a, tool: greet, args: {q: '${input.q}'}}]\noutput: ${steps.a.result}\n";

async function openPlace(): Promise<Bench> {
  const bench = await openBench(spec, files);
  writePipeline(bench.folder, steps);
  return bench;
}

/** Every later run sees the current files of the folder. */
async function reopen({ folder }: Bench): Promise<Bench> {
  return await openAt(join(folder, 'runtime.yaml'));
}

function edit({ folder }: Bench, name: string, from: string, to: string): void {
  const file = join(folder, name);
  const text = readFileSync(file, 'utf8');
  if (!text.includes(from)) throw new Error(`${name} has no ${from}`);
  writeFileSync(file, text.replace(from, to));
}

test.each([
  { kind: 'tool', yaml: tool, log: 'starts' },
  { kind: 'chat', yaml: chat, log: 'asked' },
  { kind: 'pipeline', yaml: pipeline, log: 'starts' },
])('a $kind answer is reused, with its original measures', async ({ yaml, log }) => {
  const bench = await openPlace();
  const cache = await openSqliteResults(memoryFile);
  const first = await ask(bench.subject(yaml, { cache }), { q: 1, id: JSON.rawJSON('12345678901234567890') });
  const later = await reopen(bench);
  const again = await ask(later.subject(yaml, { cache }), { q: 1, id: 2 });
  expect(again).toEqual({ ...first, duration_ms: 0, queue_ms: 0, cached: true, attempts: 0 });
  expect([first.cached, first.attempts, first.text === '']).toEqual([false, 1, false]);
  expect(bench.count(log)).toBe(1);
});

test('without a cache each answer is generated, and with one only the first', async () => {
  const bench = await openPlace();
  const cache = await openSqliteResults(memoryFile);
  for (const options of [{}, {}, { cache }, { cache }, { cache }])
    await ask(bench.subject(tool, options), { q: 1 });
  expect(bench.count('starts')).toBe(3);
});

const changes: readonly {
  title: string;
  yaml?: string;
  change?: (bench: Bench) => void;
  row?: unknown;
  epoch?: number;
  next?: string;
  options?: Partial<SubjectContext>;
}[] = [
  { title: 'a byte of the script', change: (bench) => edit(bench, 'tool.sh', 'echo start', 'echo  start') },
  { title: 'a file that an argument names', change: (bench) => edit(bench, 'words.txt', ' you', ' me') },
  { title: 'an argument', change: (bench) => edit(bench, 'runtime.yaml', '--mode=plain', '--mode=loud') },
  {
    title: 'a literal of the environment',
    change: (bench) => edit(bench, 'runtime.yaml', 'GREETING=Hello', 'GREETING=Hi'),
  },
  {
    title: 'the timeout of the tool',
    change: (bench) => edit(bench, 'runtime.yaml', 'TOKEN]}', 'TOKEN], timeout_ms: 9000}'),
  },
  {
    title: 'a hook in its way',
    change: (bench) => edit(bench, 'runtime.yaml', 'allow.sh', 'modify-before-execution'),
  },
  {
    title: 'the program of a hook of another system',
    change: (bench) => edit(bench, 'strange.sh', 'exit 0', 'exit  0'),
  },
  {
    title: 'what a hook of another system is asked',
    change: (bench) => edit(bench, 'runtime.yaml', 'matcher: greet', 'matcher: other'),
  },
  { title: 'the arguments of the case', row: { q: 2 } },
  { title: 'the number of the run', epoch: 2 },
  { title: 'the tool', next: "tool: other\nargs: {q: '${case.q}'}" },
  { title: 'a recording in its place', options: { replay: 'tape' } },
  {
    title: 'the system prompt',
    yaml: chat,
    next: chat.replace('provider: main', 'provider: main, system: Be short.'),
  },
  { title: 'an option of the chat', yaml: chat, next: chat.replace('max_rounds: 3', 'max_rounds: 4') },
  { title: 'the model', yaml: chat, change: (bench) => edit(bench, 'runtime.yaml', 'scripted', 'other') },
  {
    title: 'what the model says',
    yaml: chat,
    change: (bench) => edit(bench, 'runtime.yaml', 'text: Hello.', 'text: Bye.'),
  },
  {
    title: 'a tool that the chat offers',
    yaml: chat,
    change: (bench) => edit(bench, 'words.txt', ' you', ' me'),
  },
  {
    title: 'a byte of the pipeline',
    yaml: pipeline,
    change: ({ folder }) => writePipeline(folder, `${steps}# \n`),
  },
  {
    title: 'a byte of the config, of a pipeline',
    yaml: pipeline,
    change: (bench) => edit(bench, 'runtime.yaml', 'judge:', 'jury:'),
  },
  {
    title: 'a script, of a pipeline',
    yaml: pipeline,
    change: (bench) => edit(bench, 'tool.sh', 'echo start', 'echo  start'),
  },
];

test.each(changes)('a change of $title invalidates a cached answer', async (given) => {
  const { yaml = tool, change, row = { q: 1 }, epoch, next = yaml, options } = given;
  const bench = await openPlace();
  const cache = await openSqliteResults(memoryFile);
  await ask(bench.subject(yaml, { cache }), { q: 1 });
  const before = await ask(bench.subject(yaml, { cache }), { q: 1 });
  change?.(bench);
  const later = await reopen(bench);
  const replay = options?.replay === undefined ? {} : { replay: join(bench.folder, 'tape.jsonl') };
  const after = await ask(later.subject(next, { cache, ...replay }), row, { ...(epoch && { epoch }) });
  expect([before.cached, after.cached]).toEqual([true, false]);
});

test.each([
  { title: 'another eval', change: (bench: Bench) => edit(bench, 'runtime.yaml', 'judge:', 'jury:') },
  {
    title: 'the program of another tool',
    change: (bench: Bench) => edit(bench, 'runtime.yaml', '[none]', '[more]'),
  },
  {
    title: 'a comment in the config',
    change: (bench: Bench) => edit(bench, 'runtime.yaml', 'spec:', '# Desk\nspec:'),
  },
])('a change of $title keeps a tool’s cached answer', async ({ change }) => {
  const bench = await openPlace();
  const cache = await openSqliteResults(memoryFile);
  await ask(bench.subject(tool, { cache }), { q: 1 });
  change(bench);
  expect((await ask((await reopen(bench)).subject(tool, { cache }), { q: 1 })).cached).toBe(true);
});

test('failures are not cached', async () => {
  const bench = await openPlace();
  const cache = await openSqliteResults(memoryFile);
  edit(bench, 'words.txt', ' you', ' "');
  const bad = await ask(bench.subject(tool, { cache }), { q: 1 });
  expect(bad.error?.code).toBe('REPLY_MALFORMED');
  expect((await ask(bench.subject(tool, { cache }), { q: 1 })).cached).toBe(false);
  expect(bench.count('starts')).toBe(2);
});

test('a store that cannot save an answer ends the run', async () => {
  const bench = await openPlace();
  const cache = await openSqliteResults(memoryFile);
  cache.close();
  await expect(ask(bench.subject(tool, { cache }), { q: 1 })).rejects.toMatchObject({ code: 'STORE_FAILED' });
});

test('a different mock endpoint is another model', async () => {
  const bench = await openPlace();
  const cache = await openSqliteResults(memoryFile);
  await ask(bench.subject(chat, { cache }), { q: 1 });
  const env = { NOBODY: 'http://127.0.0.1:9/v1#llama' };
  expect((await ask(bench.subject(chat, { cache, env }), { q: 1 })).cached).toBe(false);
});
