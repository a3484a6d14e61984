import { join } from 'node:path';
import { serveConsole } from '../src/console/serve.ts';
import { openRuntime } from '../src/index.ts';
import { launchBrowser } from '../test/browser.ts';
import { workspace } from '../test/workspace.ts';

/**
 * Prints how fast Chromium paints the inbox with many pending calls, and the memory of the tab over many updates:
 * `console.ts [PENDINGS] [UPDATES]`.
 */
const [pendings = 10_000, updates = 10_000] = process.argv.slice(2).map(Number);
const ROUNDS = 5;

const folder = workspace('tools:\n  refund: {exec: {command: cat}, approval: {expires: 2h}}\n');
await using runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
const add = async (n: number) =>
  await runtime.tools.call('refund', {
    order: `A-${n}`,
    cents: 100 + n,
    note: 'Broken on arrival. '.repeat(20),
  });
for (let n = 0; n < pendings; n += 50)
  await Promise.all(Array.from({ length: Math.min(50, pendings - n) }, (_, index) => add(n + index)));
const served = await serveConsole(runtime, { listen: '127.0.0.1:0', userName: 'ada', version: '1' });
const browser = await launchBrowser();
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
await page.goto(served.url);
await page.locator('.rows li').first().waitFor();

const painted: number[] = [];
const usable: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  await page.reload({ waitUntil: 'commit' });
  await page.locator('.rows li').first().waitFor();
  usable.push(Number(await page.evaluate('performance.now()')));
  painted.push(
    Number(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")),
  );
}
const show = (values: readonly number[]) => {
  const sorted = values.toSorted((a, b) => a - b);
  return `${Math.round(sorted[Math.floor(ROUNDS / 2)] ?? 0)} ms (${Math.round(sorted[0] ?? 0)}–${Math.round(sorted.at(-1) ?? 0)})`;
};
console.log(
  `${pendings} pending calls: first contentful paint ${show(painted)}, list usable ${show(usable)}`,
);

const session = await page.context().newCDPSession(page);
const heap = async () => {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const value = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
  return `${(value('JSHeapUsedSize') / 1e6).toFixed(1)} MB, ${value('Nodes')} nodes`;
};
await session.send('Performance.enable');
console.log(`heap before updates: ${await heap()}`);
const open = await runtime.pending.page({ limit: 1 });
for (let n = 0, after = open; n < updates; n += 1) {
  const [first] = after.pending;
  if (first !== undefined) await runtime.pending.reject(first.id, { by: 'mara', reason: 'bench' });
  await add(pendings + n);
  after = await runtime.pending.page({ limit: 1 });
  if ((n + 1) % (updates / 5) === 0) console.log(`after ${n + 1} updates: ${await heap()}`);
}
await browser.close();
await served.close();
