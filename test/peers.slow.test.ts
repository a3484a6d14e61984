import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';

const call = promisify(execFile);
const root = join(import.meta.dirname, '..');
const work = mkdtempSync(join(tmpdir(), 'peers-'));
const env = {
  ...process.env,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
  NO_COLOR: '1',
};
const versionsOf = (range: string) => range.split(' || ').map((each) => each.replace('^', ''));
const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

let tarball = '';
let offline: string | undefined;

beforeAll(async () => {
  const ping = await call('npm', ['ping', '--fetch-retries=0', '--fetch-timeout=10000'], { env }).catch(
    () => undefined,
  );
  if (ping === undefined) offline = 'the npm registry cannot be reached';
  const { stdout } = await call('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', work], {
    cwd: root,
    env,
  });
  tarball = join(work, JSON.parse(stdout)[0].filename);
});

async function install(
  packages: readonly string[],
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = mkdtempSync(join(work, 'project-'));
  for (const [name, text] of Object.entries({ 'package.json': '{"type": "module"}', ...files }))
    writeFileSync(join(folder, name), text);
  await call('npm', ['install', '--save-dev', '--no-audit', '--no-fund', ...packages, tarball], {
    cwd: folder,
    env,
  });
  return folder;
}

const suite = `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: small}
spec:
  cases: [{id: good, content: hello}, {id: bad, content: nothing}]
  evals: [{id: e, type: contains, params: {patterns: [hello]}, threshold: {min_score: 1}}]
`;

test.for(versionsOf(peerDependencies.vitest))(
  'signalbox/vitest works with vitest %s',
  async (version, { skip }) => {
    skip(offline !== undefined, offline);
    const folder = await install([`vitest@${version}`], {
      's.suite.yaml': suite,
      'runtime.yaml': 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n',
      's.test.js':
        "import { describeSuite } from 'signalbox/vitest';\nawait describeSuite('s.suite.yaml');\n",
    });
    const ran = await call(process.execPath, ['node_modules/vitest/vitest.mjs', 'run'], {
      cwd: folder,
      env,
    }).catch((failed: { readonly stdout: string; readonly stderr: string }) => failed);
    expect(ran.stdout).toContain('1 failed | 1 passed');
    expect(ran.stderr).toContain('SuiteFailure: case bad failed');
  },
);

const guarded = `import { generateText, wrapLanguageModel } from 'ai';
import * as mocks from 'ai/test';
import { openRuntime } from 'signalbox';
const runtime = await openRuntime('runtime.yaml', { log: false });
const name = Object.keys(mocks).filter((each) => each.startsWith('MockLanguageModel')).sort().at(-1);
let asked = '';
const doGenerate = async ({ prompt }) => {
  asked = JSON.stringify(prompt);
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  return { content: [{ type: 'text', text: 'hi' }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] };
};
try {
  const model = wrapLanguageModel({ model: new mocks[name]({ doGenerate }), middleware: runtime.guard() });
  await generateText({ model, prompt: 'I am ada@example.org', maxRetries: 0 });
  console.log(asked.includes('ada@') ? 'unguarded' : 'guarded');
} catch (error) {
  console.log(error.message, error.hint, asked);
}
await runtime.close();
`;

test.for(versionsOf(peerDependencies.ai))(
  'the guard works with ai %s, or names the one that it needs',
  async (version, { skip }) => {
    skip(offline !== undefined, offline);
    const folder = await install([`ai@${version}`], {
      'guard.js': guarded,
      'runtime.yaml':
        'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {hooks: {pii: {hook: provider, command: signalbox-pii, args: [--action, redact]}}}\n',
    });
    const { stdout } = await call(process.execPath, ['guard.js'], { cwd: folder, env });
    expect(stdout).toMatch(
      version === '7' ? /^guarded\n$/ : /specification v4 .*`ai` 7.*npm install ai@7\. \n$/,
    );
  },
);

test('the exported Claude hook works in an empty environment', {
  timeout: 300_000,
}, async ({ skip }) => {
  skip(offline !== undefined, offline);
  const folder = await install([], {
    'runtime.yaml':
      'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {hooks: {pii: {hook: provider, command: signalbox-pii, args: [--action, block]}}}\n',
  });
  const { stdout } = await call('npx', ['--no', '--', 'signalbox', 'hook', 'export', '--dialect', 'claude'], {
    cwd: folder,
    env,
  });
  const { command } = JSON.parse(stdout).hooks.UserPromptSubmit[0].hooks[0];
  const say = (prompt: string) => {
    const event = {
      ...{ session_id: 's', transcript_path: '/dev/null', cwd: folder },
      ...{ hook_event_name: 'UserPromptSubmit', prompt },
    };
    const { status, stdout, stderr } = spawnSync('/usr/bin/env', ['-i', '/bin/sh', '-c', command], {
      cwd: '/',
      input: JSON.stringify(event),
      encoding: 'utf8',
    });
    return { status, told: stdout + stderr };
  };
  expect(say('What is the capital of France?')).toEqual({ status: 0, told: '' });
  const denied = say('My card is 4242 4242 4242 4242');
  expect(denied).toEqual({
    status: expect.any(Number),
    told: expect.stringContaining('the request holds 1 credit card'),
  });
  expect(denied.status === 2 || denied.told.includes('"decision":"block"')).toBe(true);
});
