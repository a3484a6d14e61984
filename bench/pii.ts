import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Contender, measure, render, spread } from './measure.ts';
import { corpus, measureCorpus, renderScores } from './pii-score.ts';
import { makeFolder, open } from './workspace.ts';

const main = fileURLToPath(new URL('../src/cli/pii/main.ts', import.meta.url));

/** A server that allows everything: the cost of the protocol without a filter. */
const idle = `
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { id } = JSON.parse(line);
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: { allow: true } }) + '\\n');
}
`;
const config = `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  hooks:
    pii: {command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(main)}], hook: provider, phases: [before_call], runtime: server}
`;
const content = 'I am Ada, write to ada@example.org or call 415-555-0132; my card is 4111 1111 1111 1111.';
const request = { messages: [{ role: 'user' as const, content }], system_prompt: 'You are kind.' };

/** Measures how much of a labelled corpus the filter finds, and how many short requests a second it processes. */
export async function benchPii(): Promise<string> {
  const scores = existsSync(corpus)
    ? renderScores(measureCorpus())
    : 'pii: the table is skipped, ../shared/data/pii is not here';
  return [scores, await benchThroughput(), startUp()].join('\n\n');
}

async function benchThroughput(): Promise<string> {
  const folder = makeFolder({ 'idle.mjs': idle, 'runtime.yaml': config });
  const runtime = await open(folder.path);
  const fire = async () => {
    const { verdict } = await runtime.hooks.fire({ hook: 'provider', phase: 'before_call', request });
    if (verdict !== 'modify') throw new Error(`the verdict was ${verdict}`);
  };
  const measured = await measure(
    [
      openServer('a server that allows everything, bare loop over pipes', join(folder.path, 'idle.mjs')),
      openServer('signalbox-pii, bare loop over pipes', main),
      {
        name: 'signalbox-pii behind runtime.hooks.fire',
        run: (count, at) => spread(count, at, fire),
        close: () => runtime.close(),
      },
    ],
    { count: 4000 },
  );
  folder.remove();
  return render('pii: requests of one short text with an address, a phone number and a card', measured);
}

function openServer(name: string, program: string): Contender {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, () => void>();
  let lastId = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id } = JSON.parse(line);
    waiting.get(id)?.();
    waiting.delete(id);
  });
  const params = { hook: 'provider', phase: 'before_call', request };
  const ask = () =>
    new Promise<void>((resolve) => {
      const id = ++lastId;
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'execute', params })}\n`);
    });
  return {
    name,
    run: (count, at) => spread(count, at, ask),
    close: async () => {
      child.stdin.end();
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

/** Measures the one-shot filter from start to exit for several texts, and a bare start of Node. */
function startUp(): string {
  const rows = [
    ['node -e ""', ['-e', '']],
    ['one-shot, nothing found', [main], 'Good morning.'],
    ['one-shot, address, phone number and card', [main], content],
    ['one-shot, names of persons too', [main, '--entities', 'all'], content],
  ] as const;
  const lines = rows.map(([name, args, text = '']) => {
    const messages = [{ role: 'user', content: text }];
    const input = JSON.stringify({ hook: 'provider', phase: 'before_call', request: { messages } });
    const times = Array.from({ length: 7 }, () => {
      const startedAt = performance.now();
      spawnSync(process.execPath, args, { input });
      return performance.now() - startedAt;
    });
    const median = times.toSorted((one, other) => one - other)[3] ?? Number.NaN;
    return `  ${name.padEnd(42)} ${median.toFixed(0).padStart(6)} ms`;
  });
  return ['pii: start-up, from source', ...lines].join('\n');
}
