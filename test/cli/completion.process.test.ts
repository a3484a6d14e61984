import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { onlyDocument, run } from './command-line.ts';

async function scriptOf(shell: string): Promise<string> {
  const { code, stdout, stderr } = await run(['completion', shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

const isThere = (shell: string) => spawnSync(shell, ['--version']).status === 0;

/** The completions of the last word, which may be empty. */
const rows = [
  [['ev'], ['eval']],
  [
    ['eval', ''],
    ['agreement', 'call', 'diff', 'html', 'import', 'list', 'prune', 'rate', 'run', 'show', 'view'],
  ],
  [
    ['eval', 'r'],
    ['rate', 'run'],
  ],
  [
    ['--config', 'x.yaml', 'tool', ''],
    ['add', 'call', 'list'],
  ],
  [['eval', 'run', '--dat'], ['--dataset']],
  [['eval', 'run', 'support.suite.yaml', '--work'], ['--workers']],
  [
    ['init', '--lang', ''],
    ['go', 'node', 'python', 'sh'],
  ],
  [['init', '--lang', 'n'], ['node']],
  [['--log-level', 'si'], ['silent']],
  [
    ['completion', ''],
    ['bash', 'fish', 'zsh'],
  ],
  [['tool', 'call', '--jso'], ['--json']],
  [['tool', 'call', 'greet', '--args', '--'], []],
  [['no-such-command', 'x'], []],
] as const;

describe.runIf(isThere('bash'))('bash', () => {
  test.each(rows)('%j can become %j', async (words, expected) => {
    const ask = 'COMP_WORDS=(signalbox "$@"); COMP_CWORD=$#; _signalbox; printf "%s\\n" "${COMPREPLY[@]}"';
    const { stdout, status, stderr } = spawnSync(
      'bash',
      ['--norc', '-uc', `${await scriptOf('bash')}\n${ask}`, 'bash', ...words],
      { encoding: 'utf8' },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(
      stdout
        .split('\n')
        .filter((word) => word !== '')
        .toSorted(),
    ).toEqual(expected);
  });
});

describe.runIf(isThere('fish'))('fish', () => {
  const folder = mkdtempSync(join(tmpdir(), 'completion-'));
  test.each(rows.filter(([words]) => words[0] !== 'no-such-command' && words.at(-1) !== '--'))(
    '%j can become %j',
    async (words, expected) => {
      const script = join(folder, 'signalbox.fish');
      writeFileSync(script, await scriptOf('fish'));
      const line = ['signalbox', ...words].join(' ');
      const { stdout, stderr } = spawnSync(
        'fish',
        ['-c', `source ${script}; complete -C ${JSON.stringify(line)}`],
        {
          cwd: mkdtempSync(join(folder, 'empty-')),
          env: { ...process.env, HOME: folder },
          encoding: 'utf8',
        },
      );
      expect(stderr).toBe('');
      const found = stdout.split('\n').flatMap((each) => (each === '' ? [] : [each.split('\t')[0]]));
      expect(found.toSorted()).toEqual(expected);
    },
  );
});

test.runIf(isThere('zsh'))('zsh accepts its script', async () => {
  const script = (await scriptOf('zsh')).replace('compinit && compinit', 'compinit && compinit -u -D');
  const ask = 'COMP_WORDS=(signalbox eval r); (( $+functions[_signalbox] )) && print there';
  const { stdout, stderr } = spawnSync('zsh', ['-fc', `${script}\n${ask}`], { encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: 'there\n', stderr: '' });
});

test('each script knows every command of --help', async () => {
  const { stdout: help } = await run('--help');
  const names = [...help.matchAll(/^ {2}([a-z]+)(?: |\|)/gm)].flatMap(([, name = '']) =>
    name === 'help' || name === 'signalbox' ? [] : [name],
  );
  expect(names.length).toBeGreaterThan(10);
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = await scriptOf(shell);
    expect(names.filter((name) => !script.includes(`'${name}'`))).toEqual([]);
  }
});

test('--json returns the script as a member, and an unknown shell is refused', async () => {
  const { code, stdout } = await run('completion bash --json');
  expect({ code, document: onlyDocument(stdout) }).toEqual({
    code: 0,
    document: { shell: 'bash', script: await scriptOf('bash') },
  });
  expect((await run('completion powershell')).code).toBe(2);
});
