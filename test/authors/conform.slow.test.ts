import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { folderOf, run, runJson } from '../cli/command-line.ts';
import { present } from './languages.ts';

const request = ['--request', '{"args": {"name": "Ada"}}'];
const scripts = [
  { entry: 'greet', kind: 'tool', more: request },
  { entry: 'concise', kind: 'eval', more: [] },
  { entry: 'pii_filter', kind: 'filter', more: [] },
] as const;

describe.each(present)(
  'the scripts of `init --lang $lang` pass every check of `conform` [DS-AUTHOR-05]',
  ({ lang }) => {
    const folder = join(folderOf({}), lang);
    beforeAll(async () => {
      await run(['init', folder, '--lang', lang]);
      if (lang === 'go') spawnSync('go', ['build', '-o', 'bin/', './...'], { cwd: folder });
    }, 60_000);

    const modes = [[], ['--server'], ...(lang === 'python' ? [['--forked']] : [])];
    const runs = modes.flatMap((mode) => scripts.map((script) => ({ ...script, mode })));
    test.for(runs)('$entry $mode', { timeout: 240_000 }, async ({ entry, kind, more, mode }) => {
      const args = ['conform', entry, ...mode, ...more, '--timeout', '60s', '--log-level', 'silent'];
      const { code, document } = await runJson(args, { cwd: folder });
      expect({ code, document }).toMatchObject({ code: 0, document: { kind, failed: 0, skipped: 0 } });
    });
  },
);
