import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const sources = ['src', 'schema', 'build', 'rolldown.config.ts', 'package-lock.json'];

/** Makes what is generated from src anew, before the first test, when it is missing or older than its sources. */
export default function generate(): void {
  // What is made last.
  const made = changedMs('dist/cli/process/help.txt');
  if (sources.every((source) => changedMs(source) <= made)) return;
  execFileSync('npm', ['run', '--silent', 'generate'], { cwd: root, stdio: 'inherit' });
}

/** When the file, or the newest file of the folder, was last written; 0 for what is missing. */
function changedMs(path: string): number {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found?.mtimeMs ?? 0;
  const files = readdirSync(join(root, path), { recursive: true, encoding: 'utf8' });
  return Math.max(...files.map((file) => statSync(join(root, path, file)).mtimeMs));
}
