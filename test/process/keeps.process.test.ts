import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test.runIf(process.platform === 'linux')(
  'collections of young objects free what a one-shot call has allocated',
  async () => {
    const program = join(import.meta.dirname, 'keeps.ts');
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program]);
    // About 2,300; 5,000 with a long-lived Map whose tables V8 links, 10,000 with getters of literals too.
    expect(Number(stdout)).toBeLessThan(4000);
  },
);
