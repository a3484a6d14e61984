import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findInterpreterFault } from '../../../src/base/files/interpreter.ts';

test('an unreadable folder on PATH hides no interpreter after it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'interpreter-'));
  const script = join(folder, 'script');
  writeFileSync(script, '#!/usr/bin/env sh\n');
  const unusable = `/${'x'.repeat(300)}`;
  const find = (searchPath: string) => findInterpreterFault(script, { cwd: folder, searchPath });
  expect(find(`${unusable}:/bin`)).toBeUndefined();
  expect(find(unusable)?.reason).toContain('sh');
});
