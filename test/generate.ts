import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const sources = ['src', 'schema', 'build', 'rolldown.config.ts', 'package-lock.json'];

/** Regenerates files before the first test if they are missing or older than their sources. */
export default function generate(): void {
  // The file that is generated last.
  const made = changedMs('dist/cli/process/help.txt');
  if (sources.every((source) => changedMs(source) <= made)) return;
  execFileSync('npm', ['run', '--silent', 'generate'], { cwd: root, stdio: 'inherit' });
}

/** The modification time of the file or of the folder's newest file; 0 if missing. */
function changedMs(path: string): number {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found?.mtimeMs ?? 0;
  const files = readdirSync(join(root, path), { recursive: true, encoding: 'utf8' });
  return Math.max(...files.map((file) => statSync(join(root, path, file)).mtimeMs));
}
