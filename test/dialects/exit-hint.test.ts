import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';

const lineEnds =
  'A script in it has Windows line endings (CRLF), which are read as parts of its commands: save it with LF line endings.';

test.each([
  { shell: '/bin/sh', script: 'no-such-program-here\r\n', hint: lineEnds },
  { shell: 'bash', script: 'no-such-program-here\r\n', hint: lineEnds },
  {
    shell: '/bin/sh',
    script: 'no-such-program-here\n',
    hint: expect.stringMatching(/^A program that it calls was not found\./),
  },
  {
    shell: '/bin/sh',
    script: 'exit 126\n',
    hint: expect.stringMatching(/^A program that it calls is not executable/),
  },
  {
    shell: '/bin/sh',
    script: 'exit 3\n',
    hint: 'Correct the program: its stderr says why.',
  },
])(
  'the failure of a script under $shell names its likely cause: $script',
  async ({ shell, script, hint }) => {
    const folder = mkdtempSync(join(tmpdir(), 'exit-'));
    writeFileSync(join(folder, 'script'), script);
    const tool = `{description: x, exec: {command: ${shell}, args: [script]}}`;
    writeFileSync(
      join(folder, 'runtime.yaml'),
      `apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {tools: {t: ${tool}}}\n`,
    );
    await using runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
    expect(await runtime.tools.call('t', {})).toMatchObject({
      status: 'failed',
      error: { code: 'PROCESS_EXIT', hint },
    });
  },
);
