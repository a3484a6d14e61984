import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { RuntimeError } from '../../src/base/errors.ts';
import { isObject } from '../../src/base/json/json.ts';
import { openRuntime } from '../../src/index.ts';
import { validateFile } from '../../src/runtime/validate-file.ts';
import { makeFolder, noSandbox } from '../process/sandbox/box.ts';

const plugin = (schema: string) => `#!/bin/sh\nexec echo '${schema}'\n`;
const folder = makeFolder();
for (const name of ['plugins', 'strict', 'data']) mkdirSync(join(folder, name));
const programs = {
  'plugins/good': plugin('{"name": "p", "description": "", "hooks": ["pre_tool"]}'),
  'strict/good': plugin('{"name": "q", "description": "", "hooks": ["pre_tool"]}'),
};
for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, name), text, { mode: 0o755 });
writeFileSync(join(folder, 'not-executable'), '#!/bin/sh\n');

const base = parse(`
apiVersion: signalbox/v1
kind: RuntimeConfig
metadata: {name: base}
spec:
  defaults: {timeout_ms: 5000}
  tools:
    t:
      description: d
      input_schema: {type: object, properties: {q: {type: string}}}
      exec: {command: sh, args: [-c, cat], runtime: exec, env: [A=1], cwd: data, limits: {open_files: 64}${noSandbox === undefined ? ', sandbox: box' : ''}}
      approval: {when: "\${args.q == 'x'}", by: [ada]}
  evals: {e: {command: cat}, s: {script: {javascript: "1"}}}
  hooks:
    pii: {hook: provider, command: signalbox-pii, args: [--action, mask], runtime: server, phases: [before_call], match: {providers: [main]}}
    web: {hook: tool, url: "https://example.com/x"}
    line: {dialect: claude, command: "true", claude: {event: PreToolUse, matcher: Bash}}
    plug: {dialect: chibi, command: plugins/good}
  imports: [{dialect: chibi, plugins_dir: strict, on_failure: deny}]
  sandboxes: {box: {mode: bubblewrap, write: [data]}}
  providers:
    - {id: main, type: mock, model: m, additional_config: {responses: [{text: hi}]}}
    - {id: other, type: openai, model: m, fallback: [main], credential: {credential_env: NONE}}
  notify: [{command: cat, on: [pending]}]
  state_store: {type: memory}
  gateway: {models: {fast: {provider: main}}, hooks: {all: [pii]}}
  logging: {defaultLevel: info}
`);

function* mistakesOf(document: unknown): Generator<readonly [string, unknown]> {
  for (const path of pathsOf(document)) {
    const name = path.join('.');
    for (const value of ['', 'nope', './not-executable', -1, 1e9, null, [], {}, ['nope']])
      yield [`${name} = ${JSON.stringify(value)}`, withValue(document, path, value)];
    yield [`${name} is missing`, withValue(document, path, undefined)];
    if (typeof path.at(-1) === 'string')
      yield [`${name} has another name`, withValue(document, path, undefined, `${path.at(-1)}x`)];
  }
}

function pathsOf(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  const inner = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  const own = path.length === 0 ? [] : [path];
  return [...own, ...inner.flatMap(([key, each]) => pathsOf(each, [...path, key]))];
}

function withValue(
  document: unknown,
  [key, ...rest]: readonly (string | number)[],
  value: unknown,
  name = key,
): unknown {
  if (key === undefined) return value;
  const entries = Array.isArray(document) ? [...document.entries()] : Object.entries(Object(document));
  const changed = entries.flatMap(([each, old]): [string | number, unknown][] => {
    if (each !== key) return [[each, old]];
    if (rest.length > 0) return [[each, withValue(old, rest, value, rest.length === 1 ? name : undefined)]];
    if (value !== undefined) return [[each, value]];
    return name === key || name === undefined ? [] : [[name, old]];
  });
  return Array.isArray(document) ? changed.map(([, each]) => each) : Object.fromEntries(changed);
}

const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: '/root' };

async function isOpenable(file: string): Promise<boolean> {
  try {
    await using _runtime = await openRuntime(file, { log: false, env });
    return true;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'CONFIG_INVALID') return false;
    throw error;
  }
}

describe('a config that cannot be opened is not valid', () => {
  const all = [...mistakesOf(base)];
  const part = all.filter((_mistake, index) => index % 7 === Number(process.env['OPENABLE_PART'] ?? 0));

  test('the base of all mistakes opens and is valid', async () => {
    const file = join(folder, 'base.yaml');
    writeFileSync(file, stringify(base));
    expect(await isOpenable(file)).toBe(true);
    expect((await validateFile(file, file, { env })).filter(({ severity }) => severity === 'error')).toEqual(
      [],
    );
  });

  test('with any wrong value', async () => {
    const missed: string[] = [];
    let refused = 0;
    for (const [title, document] of part) {
      const file = join(folder, 'mistake.yaml');
      writeFileSync(file, stringify(document));
      const isRefused = !(await isOpenable(file));
      if (isRefused) refused += 1;
      const problems = await validateFile(file, file, { env });
      if (isRefused && problems.every(({ severity }) => severity !== 'error')) missed.push(title);
    }
    expect(missed).toEqual([]);
    // Ensures that the changes really were errors.
    expect(refused).toBeGreaterThan(part.length / 4);
  }, 120_000);

  test.each([
    ['a plugin that is not there', { hooks: { plug: { dialect: 'chibi', command: 'plugins/gone' } } }],
    ['a plugin that cannot be run', { hooks: { plug: { dialect: 'chibi', command: './not-executable' } } }],
    [
      'a hook of Claude that is not there',
      { hooks: { line: { dialect: 'claude', command: './gone.sh', claude: { event: 'Stop' } } } },
    ],
    [
      'a sandbox that shows the state',
      {
        sandboxes: { box: { mode: 'bubblewrap', write: ['.signalbox'] } },
        tools: { t: { exec: { command: 'cat', sandbox: 'box' } } },
      },
    ],
    [
      'a sandbox whose program is not there',
      {
        sandboxes: { box: { mode: 'command', command: 'no-such-program' } },
        tools: { t: { exec: { command: 'cat', sandbox: 'box' } } },
      },
    ],
  ])('%s', async (_title, spec) => {
    const file = join(folder, 'mistake.yaml');
    writeFileSync(file, stringify({ ...base, spec }));
    expect(await isOpenable(file)).toBe(false);
    const problems = await validateFile(file, file, { env });
    expect(problems).toContainEqual(expect.objectContaining({ severity: 'error', file }));
  });
});
