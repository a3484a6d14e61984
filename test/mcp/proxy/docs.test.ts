import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { channels } from '../../../src/mcp/proxy/channels.ts';
import { rowOf } from './rows.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/mcp-proxy.md'), 'utf8');

test('the page about the proxy lists every message with its rule', () => {
  const rows = page.split('\n').filter((line) => /^\| `[^`]+` \| (?:client|server), /.test(line));
  expect(rows).toEqual(channels.map(rowOf));
});
