import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { importHooks } from '../../src/config/import/entries.ts';
import { loadConfig } from '../../src/config/load.ts';
import { configText, native, searchPath } from './told.ts';

/** A folder with a plugin, an unrelated file, a pipe without a writer, and a folder of links. */
function newPlugin(hooks: unknown): string {
  const root = mkdtempSync(join(tmpdir(), 'paths-'));
  const files = {
    'secret.json': '{"PreToolUse": [{"hooks": [{"type": "command", "command": "echo secret-word"}]}]}',
    'plug/plugin.json': JSON.stringify({ name: 'p', hooks }),
    'plug/own.json': '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  execFileSync('mkfifo', [join(root, 'plug/pipe')]);
  symlinkSync('../secret.json', join(root, 'plug/link.json'));
  symlinkSync('/dev/zero', join(root, 'plug/zero.json'));
  symlinkSync('loop.json', join(root, 'plug/loop.json'));
  return root;
}

function importPlugin(hooks: unknown) {
  const root = newPlugin(hooks);
  const { entries, problems } = importHooks(join(root, 'plug'), { folder: root, searchPath });
  return { entries: JSON.stringify(entries), messages: problems.map(({ message }) => message).join('\n') };
}

test('a plugin names files in its folder', () => {
  expect(importPlugin('./own.json').entries).toContain('"true"');
});

test.each([
  ['a path upwards', '../secret.json'],
  ['an absolute path', '/etc/passwd'],
  ['a link that leads out', 'link.json'],
  ['a link to a device', 'zero.json'],
  ['a path upwards by way of a folder that is not there', 'x/../../secret.json'],
  ['one of a list', ['./own.json', '../secret.json']],
])('%s is refused with its place, and none of the file is read or shown', (_title, hooks) => {
  const { entries, messages } = importPlugin(hooks);
  expect(messages).toContain('is outside the folder of the plugin');
  expect(entries + messages).not.toMatch(/secret-word|root:/);
});

test.each([
  ['a pipe that nobody writes to', 'pipe', 'it is a pipe'],
  ['a link to itself', 'loop.json', 'ELOOP'],
  ['a URL', 'file:///etc/passwd', 'not found'],
  ['a NUL', 'own.json\0.txt', 'null bytes'],
  ['the folder itself', '.', 'folder'],
])('%s is an error, at once', (_title, hooks, said) => {
  const { entries, messages } = importPlugin(hooks);
  expect(messages).toContain(said);
  expect(entries).toBe('[]');
});

test('imports and scripts that are pipes or devices are errors, at once', () => {
  const root = newPlugin([]);
  const file = join(root, 'runtime.yaml');
  const load = (spec: string) => {
    writeFileSync(file, configText(native, spec));
    return loadConfig(file, searchPath)
      .problems.map(({ message }) => message)
      .join('\n');
  };
  expect(load('\nimports: [{dialect: claude, file: plug/pipe}]')).toContain('it is a pipe');
  expect(load('\nimports: [{dialect: claude, file: /dev/zero}]')).toContain('it has more than 16 MiB');
  expect(load('\nhooks:\n  h: {hook: tool, command: sh, args: [plug/pipe]}')).toBe('');
  writeFileSync(
    join(root, 'settings.json'),
    JSON.stringify({
      hooks: {
        Stop: [
          {
            hooks: [
              { type: 'command', command: `${root}/plug/pipe` },
              { type: 'command', command: 'sh plug/pipe' },
            ],
          },
        ],
      },
    }),
  );
  expect(load('\nimports: [{dialect: claude, file: settings.json}]')).not.toContain('error');
});
