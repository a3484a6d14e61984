import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fixture, pipeline, run, runJson, suite, workspace } from './command-line.ts';

const key = 'sk-desk-4f9A+x/Qm2Zr8kTb7Lw1';
const env = { DESK_KEY: key };

/** How the fixture says its key when it fails. */
const ways = ['stderr', 'chunks', 'killed', 'base64', 'stdout', 'error'] as const;

/** Every piece of eight characters of the key, as it is and in Base64. */
const pieces = [key, ...[0, 1, 2].map((shift) => encoded(shift))].flatMap((text) =>
  Array.from({ length: text.length - 7 }, (_, at) => text.slice(at, at + 8)),
);

function encoded(shift: number): string {
  const text = Buffer.from('x'.repeat(shift) + key).toString('base64');
  return text.slice(Math.ceil((shift * 8) / 6), -2).replace(/=.*/, '');
}

/** What of the key can be read in a text. */
function piecesIn(text: string): string[] {
  const whole = text.replaceAll(/\r?\n|\\n/g, '');
  return pieces.filter((piece) => whole.includes(piece));
}

/** What of the key can be read in a file of this folder or of those in it, but in what the test put there. */
function piecesUnder(folder: string, given: readonly string[]): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !given.includes(entry.name))
    .flatMap((entry) => {
      const found = piecesIn(readFileSync(join(entry.parentPath, entry.name), 'latin1'));
      return found.map((piece) => `${entry.name}: ${piece}`);
    });
}

const leaks = [...ways, 'score', 'result'] as const;
const tool = (way: string) =>
  `  ${way}: {description: d, input_schema: {type: object}, exec: {command: ${fixture('leaks-key.sh')}, args: [${way}], env: [DESK_KEY]}}\n`;
const evaluation = (way: string) =>
  `  e_${way}: {command: ${fixture('leaks-key.sh')}, args: [${way}], env: [DESK_KEY]}\n`;
const spec = `tools:\n${leaks.map(tool).join('')}evals:\n${leaks.map(evaluation).join('')}`;

describe.each(ways)('a key that a program spills by way of %s', (way) => {
  test('reaches nobody who calls it as a tool', async () => {
    const folder = workspace(spec);
    const { code, stdout, stderr } = await run(['tool', 'call', way], { cwd: folder, env });
    const { document, stderr: log } = await runJson(['tool', 'call', way, '--log-level', 'trace'], {
      cwd: folder,
      env,
    });
    expect({ code, pieces: piecesIn([stdout, stderr, log, JSON.stringify(document)].join('\n')) }).toEqual({
      code: 1,
      pieces: [],
    });
  });

  test('stands in no store of runs, and in no word of one', async () => {
    const file = pipeline(`steps:\n  - {id: one, tool: ${way}}\n`);
    const folder = workspace(spec, { 'p.pipeline.yaml': file });
    const ran = await run(['run', 'p.pipeline.yaml'], { cwd: folder, env });
    const shown = await run(['runs', 'list', '--json'], { cwd: folder, env });
    expect(piecesIn(ran.stdout + ran.stderr + shown.stdout + shown.stderr)).toEqual([]);
    expect(existsSync(join(folder, '.signalbox/state.db'))).toBe(true);
    expect(piecesUnder(folder, [])).toEqual([]);
  });
});

test('no report, no store of results and no cassette shows a key, also where it was judged', async () => {
  const evals = leaks.map((way) => `  - {id: ${way}, type: e_${way}}\n`).join('');
  const folder = workspace(spec, {
    's.suite.yaml': suite(`dataset: {path: d.jsonl}\nevals:\n${evals}`),
    'd.jsonl': `${JSON.stringify({ content: `my key is ${key}` })}\n`,
  });
  const reports = ['junit', 'markdown', 'html', 'csv', 'jsonl', 'sarif', 'github'];
  const flags = reports.flatMap((name) => ['--reporter', `${name}=report.${name}`]);
  const ran = await run(
    ['eval', 'run', 's.suite.yaml', '--reporter', 'table', '--record', 'tape.jsonl', ...flags],
    {
      cwd: folder,
      env,
    },
  );
  const shown = await run(['eval', 'show', '--json'], { cwd: folder, env });
  expect(piecesIn(ran.stdout + ran.stderr + shown.stdout + shown.stderr)).toEqual([]);
  expect(readdirSync(folder)).toEqual(
    expect.arrayContaining([...reports.map((name) => `report.${name}`), 'tape.jsonl']),
  );
  expect(piecesUnder(folder, ['d.jsonl'])).toEqual([]);
});

test('a result is what it is, for its caller and for the run that goes on with it', async () => {
  const folder = workspace(spec, {
    'p.pipeline.yaml': pipeline('steps:\n  - {id: one, tool: result}\noutput: "${steps.one.result}"\n'),
  });
  const called = await run(['tool', 'call', 'result'], { cwd: folder, env });
  const ran = await runJson(['run', 'p.pipeline.yaml'], { cwd: folder, env });
  expect(called.stdout).toBe(`${key}\n`);
  expect(ran.document).toMatchObject({ status: 'completed', output: key });
});
