import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { openRecordedCalls } from '../../../src/models/recording/call-replay.ts';
import { openCassetteIndex } from '../../../src/process/cassette/cassette.ts';
import { outcomeFromStored, scanCassette } from '../../../src/process/cassette/format.ts';
import { codedLater, type Target } from '../target.ts';

const folder = join(import.meta.dirname, '../../../node_modules/.cache/fuzz/files');
mkdirSync(folder, { recursive: true });
const file = join(folder, 'a.cassette');
const lines = readFileSync(join(import.meta.dirname, '../../fixtures/records/desk.cassette'), 'utf8').split(
  '\n',
);
const linesWith = (part: string, count: number) =>
  lines
    .filter((line) => line.includes(part) && line.length < 1_200)
    .slice(0, count)
    .join('\n');

export const recordings: Target = {
  seeds: [
    `${linesWith('"exchange":1', 2)}\n${linesWith('"blob"', 3)}\n`,
    `${linesWith('"v":', 1)}\n`,
    `${linesWith('"blob"', 1)}\n{"cut":true}\n`,
  ],
  tokens: [
    ...[
      '"exchange":',
      '"blob":',
      '"v":',
      '"cut":true',
      '"key":',
      '"recorder":',
      '"number":',
      '"reply":',
      '"fault":',
      '"via":"rpc"',
      '"stdout":',
    ],
    ...[
      '"result":',
      '"error":',
      '"about":',
      '"code":',
      '"text":',
      '"base64":',
      '"digest":',
      '"outcome":',
      '\n',
      '{}',
      'null',
      '1',
      '2',
      '-1',
      '""',
      '[]',
    ],
  ],
  maxLength: 3_000,
  run: async (text) => {
    writeFileSync(file, text);
    const keys: string[] = [];
    await codedLater(async () => {
      await using handle = await open(file);
      await scanCassette(handle, file, { onExchange: ({ key }) => keys.push(key) });
    });
    await codedLater(async () => {
      const index = await openCassetteIndex(file);
      try {
        for (const key of keys.slice(0, 3)) {
          await codedLater(async () => outcomeFromStored((await index.take(key)) ?? {}, index.readBlob));
        }
      } finally {
        await index.close();
      }
    });
    await codedLater(async () => {
      const calls = await openRecordedCalls(file);
      for (const call of await calls.firstOf('main')) await calls.take(call.digest);
    });
  },
};
