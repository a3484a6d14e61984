import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDesk, writePipeline } from './desk.ts';

const ITEMS = 300;
const LENGTH = 200_000;

const spec = `
tools:
  page:
    exec: {command: /bin/sh, args: [-c, 'cat >/dev/null; echo >> $folder/calls; printf ''{"result": {"text": "%08d'' $$; head -c ${LENGTH - 8} /dev/zero | tr ''\\0'' x; printf ''%s'' ''"}}''']}
`;

const pipeline = `
steps:
  - id: pages
    for_each: "\${input.of}"
    concurrency: 4
    tool: page
    args: {n: "\${item}"}
output:
  count: "\${steps.pages.items.size()}"
  all: "\${steps.pages.items.all(page, page.result.text.startsWith('0'))}"
  last: "\${steps.pages.items[${ITEMS - 1}].result.text.size()}"
`.replace('"${input.of}"', JSON.stringify(Array.from({ length: ITEMS }, (_, n) => n)));

/** Runs or resumes in a process with 512 MiB. Returns its exit code, or null if it was killed. */
async function work(config: string, what: string, killAfter?: () => Promise<void>): Promise<number | null> {
  const script = resolve(import.meta.dirname, 'runner.ts');
  const child = spawn(process.execPath, ['--max-old-space-size=512', script, config, what], {
    stdio: 'inherit',
  });
  const ended = once(child, 'exit');
  if (killAfter !== undefined) {
    await killAfter();
    child.kill('SIGKILL');
  }
  const [code] = await ended;
  return code;
}

test(`a loop over ${ITEMS} results of ${LENGTH / 1000} KB runs, is killed, and continues in 512 MB`, async () => {
  const desk = await openDesk(spec);
  const file = writePipeline(desk.folder, pipeline);
  const killed = await work(desk.config, file, async () => {
    while (desk.lines('calls').length < ITEMS / 2) await sleep(50);
  });
  expect(killed).toBe(null);
  const [run] = await desk.runtime.runs.list();
  expect(await work(desk.config, run?.run_id ?? '')).toBe(0);
  const details = await desk.runtime.runs.show(run?.run_id ?? '');
  expect(details.output).toEqual({ count: ITEMS, all: true, last: LENGTH });
  // Only work in progress at the kill is repeated.
  expect(desk.lines('calls').length).toBeLessThanOrEqual(ITEMS + 4);
});
