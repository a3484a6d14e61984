import { expect, test } from 'vitest';
import type { RuntimeEvent } from '../../src/contract/event.ts';
import { openLauncher } from '../../src/process/launch/native.ts';
import { openTransport } from '../../src/process/open.ts';
import { createPool } from '../../src/process/pool.ts';
import { createScrubber } from '../../src/runtime/log/scrub.ts';
import { allOf, bind, launchers, textOf, until } from './harness.ts';

const secret = 'a-secret-that-nobody-sees';
const total = 64 * 1024 * 1024;

/** A program that writes 64 MiB of that text to stderr before it answers. */
function flooding(text: string, encoding: string): string {
  return `
    const { writeSync } = require('node:fs');
    const block = Buffer.from(${JSON.stringify(text)}.repeat(4096), '${encoding}');
    if ('${encoding}' === 'utf16le') writeSync(2, Buffer.from([0xff, 0xfe]));
    for (let left = ${total}; left > 0; ) left -= writeSync(2, block, 0, Math.min(left, block.length));
    writeSync(1, '{"result": 1}');`;
}

const floods = [
  { title: 'in short lines', text: `y\n`, encoding: 'utf8', lines: 1000 },
  { title: 'in lines with a secret', text: `got ${secret} from there\n`, encoding: 'utf8', lines: 1000 },
  { title: 'in one line', text: `got ${secret} from there `, encoding: 'utf8', lines: 1 },
  { title: 'in UTF-16', text: `got ${secret} from there\n`, encoding: 'utf16le', lines: 1000 },
];

test.each(launchers.flatMap((launcher) => floods.map((flood) => ({ launcher, ...flood }))))(
  '64 MiB of stderr $title do not delay the reply: $launcher launcher',
  async ({ launcher, text, encoding, lines }) => {
    const events: RuntimeEvent[] = [];
    const binding = bind(process.execPath, { args: ['-e', flooding(text, encoding)] });
    const context = {
      launch: await openLauncher(launcher),
      emit: (event: RuntimeEvent) => void events.push(event),
      scrubber: createScrubber([secret]),
    };
    const transport = openTransport(binding, context, createPool(1));
    const before = process.cpuUsage();
    const reply = await transport.exchange({ method: 'execute', body: '{}' });
    await transport.close();
    const { user, system } = process.cpuUsage(before);
    expect(textOf(reply)).toBe('{"result": 1}');
    await until(() => allOf(events, 'dropped').length > 0, 'count of what was left out');
    const told = allOf(events, 'stderr');
    expect(told.length).toBeGreaterThanOrEqual(lines);
    expect(told.length).toBeLessThanOrEqual(1000);
    expect(told.filter(({ line }) => line.includes('secret-that'))).toEqual([]);
    expect(allOf(events, 'dropped')).toHaveLength(1);
    // It takes a fraction of a second; line by line it took most of a minute.
    expect((user + system) / 1e6).toBeLessThan(15);
  },
);
